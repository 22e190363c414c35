import { counted } from "../base/counted.ts";
import { type JsonObject, own } from "../base/json.ts";
import { callSim } from "../cli/ask-sim.ts";
import { clean } from "../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../cli/command.ts";
import { Failure } from "../cli/failure.ts";
import { findRunning, type Running, whereOptions } from "../cli/running-sim.ts";
import type { Settings } from "../cli/settings.ts";
import type {
  FlagDecision,
  FlagDistribution,
  FlagExplanation,
  FlagOverride,
  FlagOverrideSet,
  FlagSummary,
} from "./client.ts";
import {
  decisionLines,
  explainLines,
  forWhom,
  listLines,
  simulateLines,
  valueText,
} from "./command-lines.ts";

const group: CommandGroup = {
  name: "flags",
  describe: "Feature flags: override them, and see why a user gets a value",
};

const key = {
  kind: "text",
  describe: "The flag's key",
  flagOnly: true,
  place: 1,
  suggests: "flags",
} as const;
const project = {
  kind: "count",
  describe: "Number of the project (default: the first one)",
  flagOnly: true,
} as const;
const json = { kind: "switch", describe: "Print the control API's answer", flagOnly: true } as const;
const distinctId = { kind: "text", flagOnly: true } as const;

const common = { ...whereOptions, project, json } as const;

/** Properties of the subject. */
const about = {
  person: {
    kind: "properties",
    describe: "Person property, NAME=VALUE, or several as a JSON object",
    flagOnly: true,
    many: true,
  },
  group: {
    kind: "group",
    describe: "Group, TYPE:KEY",
    flagOnly: true,
    many: true,
  },
  "group-property": {
    kind: "group property",
    describe: "Group property, TYPE.NAME=VALUE",
    flagOnly: true,
    many: true,
  },
} as const;

const listOptions = {
  ...common,
  project: { ...project, describe: "Only this project's" },
} as const;

const setOptions = {
  key,
  value: { kind: "text", describe: "true, false or a variant", flagOnly: true, place: 2 },
  payload: { kind: "json", describe: "Payload, as JSON; default: the flag's own payload", flagOnly: true },
  "distinct-id": { ...distinctId, describe: "Only for this distinct id; default: for all" },
  force: { kind: "switch", describe: "Set a flag or a variant that does not exist", flagOnly: true },
  ...common,
} as const;

const unsetOptions = {
  key,
  "distinct-id": {
    ...distinctId,
    describe: "Only the override for this distinct id; default: all of the flag's overrides",
  },
  ...common,
} as const;

const explainOptions = {
  key,
  "distinct-id": { ...distinctId, describe: "Explain the value of this distinct id (required)" },
  ...about,
  "device-id": { kind: "text", describe: "Device id, for flags that are bucketed by device", flagOnly: true },
  "anon-distinct-id": { kind: "text", describe: "The id before the person was identified", flagOnly: true },
  ip: { kind: "text", describe: "Address from which $geoip_ properties are derived", flagOnly: true },
  ...common,
} as const;

const simulateOptions = {
  key,
  count: { kind: "count", describe: "Number of generated users", default: "1000", flagOnly: true },
  ...about,
  ...common,
} as const;

const decisionsOptions = {
  key: { kind: "text", describe: "Only this flag", flagOnly: true },
  "distinct-id": { ...distinctId, describe: "Only what this distinct id was given" },
  limit: { kind: "count", describe: "At most N", default: "20", flagOnly: true },
  ...common,
  project: { ...project, describe: "Only this project's" },
} as const;

const find = (where: Settings<typeof whereOptions>, shell: Shell): Promise<Running> =>
  findRunning(where, shell.cwd);

const path = (flagKey: string, rest = ""): string => `flags/${encodeURIComponent(flagKey)}${rest}`;

const query = (given: Readonly<Record<string, string | number | undefined>>): string => {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(there.map(([name, value]): [string, string] => [name, String(value)]));
  return search.size === 0 ? "" : `?${search}`;
};

function say(shell: Shell, asJson: boolean, answer: unknown, lines: () => string[]): "ok" {
  shell.out.say(...(asJson ? [JSON.stringify(answer, null, 2)] : lines()));
  return "ok";
}

async function list(settings: Settings<typeof listOptions>, shell: Shell) {
  const { values } = settings;
  const running = await find(settings, shell);
  const answer = await callSim<{ flags: FlagSummary[] }>(
    running,
    "GET",
    `flags${query({ project: values.project })}`,
  );
  return say(shell, values.json, answer, () => listLines(answer.flags, shell.outStyle));
}

const words: Readonly<Record<string, boolean>> = { true: true, false: false };

async function set(settings: Settings<typeof setOptions>, shell: Shell) {
  const { values } = settings;
  const answer = await callSim<FlagOverrideSet>(await find(settings, shell), "PUT", path(values.key), {
    value: Object.hasOwn(words, values.value) ? words[values.value] : values.value,
    payload: values.payload,
    distinct_id: values["distinct-id"],
    project: values.project,
    force: values.force,
  });
  if (answer.hint !== null) shell.err.say(`phx-sim: ${clean(answer.hint)}`);
  return say(shell, values.json, answer, () => [setLine(answer)]);
}

const setLine = (override: FlagOverride): string =>
  `${clean(override.key)} is now ${valueText(override.value)} for ${forWhom(override)}`;

async function unset(settings: Settings<typeof unsetOptions>, shell: Shell) {
  const { values } = settings;
  const which = query({ project: values.project, distinct_id: values["distinct-id"] });
  const answer = await callSim<{ removed: number }>(
    await find(settings, shell),
    "DELETE",
    path(values.key, which),
  );
  const line = `removed ${counted(answer.removed, "override")} of ${clean(values.key)}`;
  return say(shell, values.json, answer, () => [line]);
}

/** Later ones win. Own keys only: a name may be `__proto__`. */
const merged = (objects: readonly JsonObject[]): JsonObject =>
  Object.fromEntries(objects.flatMap((it) => Object.entries(it)));

function mergedByType(objects: readonly JsonObject[]): JsonObject {
  const types = new Set(objects.flatMap((it) => Object.keys(it)));
  return Object.fromEntries(
    [...types].map((type) => [
      type,
      merged(objects.map((it) => own(it, type)).filter((it): it is JsonObject => it !== undefined)),
    ]),
  );
}

const aboutIn = (values: Settings<typeof about & { project: typeof project }>["values"]) => ({
  project: values.project,
  person: merged(values.person),
  groups: merged(values.group),
  group_properties: mergedByType(values["group-property"]),
});

async function explain(settings: Settings<typeof explainOptions>, shell: Shell) {
  const { values } = settings;
  const id = values["distinct-id"];
  if (id === undefined) {
    const example = `phx-sim flags explain ${clean(values.key)} --distinct-id user-1`;
    throw new Failure("usage", `flags explain needs --distinct-id, e.g. ${example}`);
  }
  const running = await find(settings, shell);
  const answer = await callSim<FlagExplanation>(running, "POST", path(values.key, "/explain"), {
    ...aboutIn(values),
    distinct_id: id,
    device_id: values["device-id"],
    anon_distinct_id: values["anon-distinct-id"],
    ip: values.ip,
  });
  return say(shell, values.json, answer, () => explainLines(answer, shell.outStyle));
}

async function simulate(settings: Settings<typeof simulateOptions>, shell: Shell) {
  const { values } = settings;
  const running = await find(settings, shell);
  const body = { ...aboutIn(values), count: values.count };
  const answer = await callSim<FlagDistribution>(running, "POST", path(values.key, "/simulate"), body);
  return say(shell, values.json, answer, () => simulateLines(answer, shell.outStyle));
}

/** The decisions, page by page: a page reads a part of the journal. */
async function decisions(settings: Settings<typeof decisionsOptions>, shell: Shell) {
  const { values } = settings;
  const { key, project, limit } = values;
  const running = await find(settings, shell);
  const found: FlagDecision[] = [];
  for (let before: number | undefined; ; ) {
    const which = { key, project, distinct_id: values["distinct-id"], limit: Math.min(limit, 500), before };
    const page = await callSim<{ decisions: FlagDecision[]; before: number | null }>(
      running,
      "GET",
      `flag-decisions${query(which)}`,
    );
    found.push(...page.decisions);
    if (page.before === null || found.length >= limit) break;
    before = page.before;
  }
  const shown = found.slice(0, limit);
  return say(shell, values.json, { decisions: shown }, () => decisionLines(shown, shell.outStyle));
}

/** The commands `phx-sim flags …`. */
export const flagCommands: readonly Command[] = [
  command({
    name: "flags list",
    group,
    describe: "List the flags with their rules and overrides",
    options: listOptions,
    examples: [["phx-sim flags list", "of all projects"]],
    run: list,
  }),
  command({
    name: "flags set",
    group,
    describe: "Override a flag until it is unset or the sim is reset",
    options: setOptions,
    examples: [
      ["phx-sim flags set new-checkout test", "the variant, for everybody"],
      ["phx-sim flags set beta-feature false --distinct-id user-1", "for one user"],
    ],
    confirms: true,
    run: set,
  }),
  command({
    name: "flags unset",
    group,
    describe: "Remove a flag's overrides",
    options: unsetOptions,
    examples: [["phx-sim flags unset new-checkout", "back to its rules"]],
    confirms: true,
    run: unset,
  }),
  command({
    name: "flags explain",
    group,
    describe: "Explain why a user gets a flag's value",
    options: explainOptions,
    examples: [
      ["phx-sim flags explain new-checkout --distinct-id user-1 --person plan=pro", "with a property"],
      [
        "phx-sim flags explain beta --distinct-id user-1 --group company:acme --group-property company.plan=pro",
        "with a group",
      ],
    ],
    run: explain,
  }),
  command({
    name: "flags simulate",
    group,
    describe: "Count the values that generated users get",
    options: simulateOptions,
    examples: [["phx-sim flags simulate new-checkout --count 10000", "how the variants are spread"]],
    run: simulate,
  }),
  command({
    name: "flags decisions",
    group,
    describe: "List the served flags with subject and reason, newest first",
    options: decisionsOptions,
    examples: [["phx-sim flags decisions --key new-checkout --distinct-id user-1", "one flag, one user"]],
    run: decisions,
  }),
];
