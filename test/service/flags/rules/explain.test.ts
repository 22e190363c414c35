import { expect, test } from "vitest";
import { plain } from "../../../../src/kernel/command/style.ts";
import { explainLines } from "../../../../src/service/flags/command-lines.ts";
import { openSim } from "../../../support/sim.ts";
import { document, experiment, idOf, percentage, person, targeted } from "./documents.ts";
import { fractionOf, subjectWhere } from "./hash.ts";

const text = { return_type: "string", default_value: "none" };
const colours = [
  { key: "a", weight: 40, value: "red" },
  { key: "b", weight: 60, value: "blue" },
];
const split = experiment({
  rollout_percentage: 50,
  on_rollout_miss: "return_default",
  variants: colours,
  holdout: { id: null, seed: "h", exclusion_percentage: 10 },
});
const flags = {
  colour: { filters: document([targeted("green", [person({ negation: true })]), split], text) },
  paused: { filters: document([experiment({ paused: true })]) },
  off: { filters: document([targeted(false)]) },
  empty: { filters: document([]) },
  size: { filters: document([targeted(4, [person()])], { return_type: "number", default_value: null }) },
  half: { filters: document([percentage()], { default_value: null }) },
  pattern: { filters: document([targeted(true, [person({ operator: "regex", value: "(" })])]) },
};
const pro = { person: { plan: "pro" } };

const { sim } = await openSim({
  scenario: { version: 1, settings: { flags_v3_response_enabled: true }, flags } as never,
});

const isHeld = (it: string) => fractionOf(`h${it}`) <= 0.1;
const isIn = (it: string) => fractionOf(`seed.${it}`) <= 0.5;
const someone = (accepts: (it: string) => boolean) => {
  for (let n = 0; n < 1_000; n++) if (accepts(`user-${n}`)) return `user-${n}`;
  throw new Error("no such subject");
};

test("a match says which variant the hash draws", async () => {
  const distinctId = someone((it) => !isHeld(it) && isIn(it) && fractionOf(`seed.${it}variant`) < 0.4);
  expect(await sim.flags.explain("colour", { distinctId, ...pro })).toMatchObject({
    value: "red",
    variant: "red",
    reason: { code: "condition_match" },
    condition_index: 1,
    rule: { value: "red", code: "targeting_match", description: "Matched rule 2", type: "experiment", id: idOf(3) },
    hint: null,
    conditions: [
      {
        matched: false,
        miss: "no_condition_match",
        reached: true,
        properties: [{ key: "plan", actual: "pro", passed: false, words: expect.stringContaining("not (") }],
        rule: { type: "targeted_release", holdout: null },
      },
      {
        matched: true,
        rollout: {
          percentage: 50,
          passed: true,
          hash: { input: `seed.${distinctId}`, hash: fractionOf(`seed.${distinctId}`) },
        },
        variant: {
          hash: { input: `seed.${distinctId}variant` },
          ranges: [
            { variant: "a", from: 0, to: 0.4, hit: true },
            { variant: "b", from: 0.4, to: 1, hit: false },
          ],
        },
        rule: { holdout: { percentage: 10, held_out: false, hash: { input: `h${distinctId}` } } },
      },
    ],
  });
});

test("a rule after the one that decided is not reached", async () => {
  const { conditions } = await sim.flags.explain("colour", { distinctId: "u" });
  expect(conditions.map(({ reached }) => reached)).toEqual([true, false]);
});

test.each([
  ["held out", someone(isHeld), "held_out", "holdout"],
  ["outside", someone((it) => !isHeld(it) && !isIn(it)), "out_of_rollout_bound", "rollout_miss"],
])("%s", async (_name, distinctId, miss, code) => {
  expect(await sim.flags.explain("colour", { distinctId, ...pro })).toMatchObject({
    value: "none",
    rule: { value: "none", code },
    conditions: [{}, { matched: false, miss, variant: null }],
  });
});

test.each([
  ["paused", "rule 1: the experiment is paused; it gives the default"],
  ["off", "rule 1 gives false"],
  ["empty", "the flag has no rules"],
  ["size", 'rule 1: requires that plan is "pro", but it is not set'],
  ["pattern", 'The regular expression for "plan" is invalid'],
])("why %s is off", async (key, hint) => {
  expect(await sim.flags.explain(key, { distinctId: "u" })).toMatchObject({ enabled: false, hint });
});

test("why a rollout excludes a subject", async () => {
  const distinctId = subjectWhere(
    (it) => `seed.${it}`,
    (it) => it > 0.5,
  );
  const { hint } = await sim.flags.explain("half", { distinctId });
  expect(hint).toMatch(/^rule 1: hash 0\.\d+ > rollout 0\.5$/);
});

test("the rules in words", async () => {
  const { rules, words, variants } = await sim.flags.get("colour");
  expect(variants).toEqual(["green", "red", "blue", "none"]);
  expect(rules).toEqual([
    'not (plan is "pro"): 100 %, "green"',
    'everyone: 50 %, 40 % "red" (a), 60 % "blue" (b)',
    'default: "none"',
  ]);
  expect(words).toEqual({
    before: ["It gives values of the type string."],
    sets: [
      'When not (plan is "pro"): everyone gets "green".',
      '10 % are held out and get the default; 50 % of all persons get 40 % "red" (a), 60 % "blue" (b); the others get the default.',
    ],
    after: [],
    cohorts: [],
    otherwise: '"none"',
  });
});

test("the shares of generated subjects", async () => {
  const { values } = await sim.flags.simulate("size", { count: 50, ...pro });
  expect(values).toEqual([{ value: "4", count: 50, share: 1 }]);
  const colour = await sim.flags.simulate("colour", { count: 2_000, ...pro });
  const expected = { red: 0.18, blue: 0.27, none: 0.55 };
  expect(colour.values.map(({ value }) => value)).toEqual(["red", "blue", "none"]);
  for (const { value, share } of colour.values) {
    expect(Math.abs(share - expected[value as keyof typeof expected])).toBeLessThan(0.05);
  }
});

test("an override takes a value that the rules can give", async () => {
  await expect(sim.flags.set("colour", "gren")).rejects.toThrow('flag "colour" has no variant "gren"');
  await expect(sim.flags.set("off", "green")).rejects.toThrow('flag "off" has no variant "green"');
  await sim.flags.set("colour", "blue");
  expect(await sim.flags.explain("colour", { distinctId: "u" })).toMatchObject({
    value: "blue",
    reason: { code: "override" },
    by_rules: { value: "green", rule: { code: "targeting_match" } },
  });
  expect(await sim.flags.explain("colour", { distinctId: "u" })).not.toHaveProperty("rule");
  await sim.flags.unset("colour");
});

test("decisions show typed values and their reasons", async () => {
  const ask = (version: number) =>
    fetch(`${sim.url}/flags?v=${version}`, {
      method: "POST",
      body: JSON.stringify({ api_key: "phc_sim_default", distinct_id: "seen", person_properties: { plan: "pro" } }),
    });
  for (const version of [2, 3]) {
    await ask(version);
    const [decision] = await sim.flags.decisions({ distinctId: "seen", limit: 1 });
    expect(decision?.flags.find(({ key }) => key === "size")).toMatchObject({
      value: true,
      payload: "4",
      failed: false,
    });
    const code = version === 2 ? "condition_match" : "targeting_match";
    expect(decision?.flags.find(({ key }) => key === "off")).toMatchObject({ value: false, reason: { code } });
  }
  const response = await fetch(`${sim.url}/__sim/flags/size/seen`);
  expect(await response.json()).toMatchObject({
    ids: 1,
    sets: [{ index: 0, reached: 1, taken: 1, rollout: null }],
    off: 0,
  });
});

test("the command line shows the value, the rules and the hashes", async () => {
  const linesFor = async (key: string, distinctId: string) =>
    explainLines(await sim.flags.explain(key, { distinctId, ...pro }), plain);
  const distinctId = someone((it) => !isHeld(it) && isIn(it) && fractionOf(`seed.${it}variant`) < 0.4);
  const lines = await linesFor("colour", distinctId);
  expect(lines[0]).toBe(`colour is "red" for ${distinctId}: Matched rule 2`);
  expect(lines.slice(1)).toEqual([
    '  1 ✗ not (plan is "pro")  is "pro"',
    expect.stringMatching(/^ {2}2 ✓ holdout 10 % {2}hash 0\.\d+ > holdout 0\.1$/),
    expect.stringMatching(/^ {4}✓ rollout 50 % {2}hash 0\.\d+ ≤ rollout 0\.5$/),
    expect.stringMatching(/^ {4}→ a 0–0\.4, b 0\.4–1 {2}hash 0\.\d+$/),
  ]);
  expect((await linesFor("size", "u"))[0]).toBe("size is 4 for u: Matched rule 1");
});
