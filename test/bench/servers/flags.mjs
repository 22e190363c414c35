// What a competent person writes to answer flags: parse, check the properties, hash with SHA-1, answer what the sim
// answers. Only the operators of ../flag-world.ts.
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { serveJson } from "./serve-json.mjs";

const [, , file] = process.argv.slice(2);
const [{ api_key, flags }] = JSON.parse(readFileSync(file, "utf8")).organizations[0].projects;

const operators = {
  exact: (actual, expected) => expected.includes(actual),
  icontains: (actual, expected) => actual.toLowerCase().includes(expected.toLowerCase()),
  gt: (actual, expected) => Number(actual) > Number(expected),
};

const bucket = (flag, id, salt = "") =>
  Number.parseInt(createHash("sha1").update(`${flag}.${id}${salt}`).digest("hex").slice(0, 15), 16) / 2 ** 60;

const passes = (properties, { key: name, operator, value }) =>
  properties[name] !== undefined && operators[operator](properties[name], value);

const descriptions = {
  condition_match: (index) => `Matched condition set ${index + 1}`,
  out_of_rollout_bound: () => "Out of rollout bound",
  no_condition_match: () => "No matching condition set",
};

/** The first set that matches; else the last one that the rollout left out, or the last one. */
function reasonOf(flag, groups, { distinct_id, person_properties = {} }) {
  let reason = { code: "no_condition_match", condition_index: 0 };
  for (const [condition_index, { properties, rollout_percentage }] of groups.entries()) {
    if (!properties.every((it) => passes(person_properties, it))) {
      if (reason.code === "no_condition_match") reason = { code: "no_condition_match", condition_index };
    } else if (bucket(flag, distinct_id) <= rollout_percentage / 100) {
      return { code: "condition_match", condition_index };
    } else reason = { code: "out_of_rollout_bound", condition_index };
  }
  return reason;
}

function variantOf(flag, variants, id) {
  const at = bucket(flag, id, "variant");
  let end = 0;
  for (const { key: variant, rollout_percentage } of variants) {
    end += rollout_percentage / 100;
    if (at < end) return variant;
  }
  return null;
}

function decide([flag, { filters }], index, asked) {
  const reason = reasonOf(flag, filters.groups, asked);
  const enabled = reason.code === "condition_match";
  const variants = filters.multivariate?.variants;
  const variant = enabled && variants ? variantOf(flag, variants, asked.distinct_id) : null;
  const payload = (enabled && filters.payloads?.[variant ?? "true"]) || null;
  return {
    key: flag,
    enabled,
    variant,
    reason: { ...reason, description: descriptions[reason.code](reason.condition_index) },
    metadata: { id: index + 1, version: 1, description: null, payload, has_experiment: false },
  };
}

const all = Object.entries(flags);

function answer(asked) {
  if (asked.token !== api_key) return [401, { type: "authentication_error", code: "invalid_api_key" }];
  const decisions = all.map((flag, index) => [flag[0], decide(flag, index, asked)]);
  return [
    200,
    {
      flags: Object.fromEntries(decisions),
      errorsWhileComputingFlags: false,
      requestId: randomUUID(),
      evaluatedAt: Date.now(),
    },
  ];
}

serveJson(api_key, (_, chunks) => answer(JSON.parse(Buffer.concat(chunks).toString())));
