import { type JsonObject, own } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { newest } from "../../kernel/call/newest.ts";
import { callSim } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { findRunning } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import { print, thinCommand, thinOptions } from "../../kernel/command/thin-command.ts";
import { decisionPages, type FlagDecision } from "./client.ts";
import { decisionLines, explainLines, listLines, simulateLines, subjectText, valueText } from "./command-lines.ts";
import { DecisionSelection } from "./decision-shapes.ts";
import {
  ExplainRequest,
  FlagListQuery,
  type FlagOverride,
  type FlagOverrideSet,
  type FlagSummary,
  OverrideOrder,
  OverrideSelection,
  SimulateRequest,
} from "./shapes.ts";

const key = { describe: "The flag's key", place: 1 } as const;

/** Parameters with options of another form. */
const objects = { person: true, groups: true, group_properties: true } as const;

const about = {
  person: { kind: "properties", describe: "Person property, NAME=VALUE, or several as a JSON object", many: true },
  group: { kind: "group", parameter: "groups", describe: "Group, TYPE:KEY", many: true },
  "group-property": {
    kind: "group property",
    parameter: "group_properties",
    describe: "Group property, TYPE.NAME=VALUE",
    many: true,
  },
} as const;

const explainOptions = { key, ...optionsOf(ExplainRequest.omit(objects)), ...about } as const;

const decisionsOptions = {
  ...optionsOf(DecisionSelection.omit({ before: true, since: true, limit: true })),
  limit: { kind: "count", describe: "At most N", default: "20" },
  ...thinOptions,
} as const;

const setLine = (override: FlagOverride): string =>
  `${clean(override.key)} is now ${valueText(override.value)} for ${subjectText(override)}`;

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

const aboutIn = (values: Settings<typeof about>["values"]) => ({
  person: merged(values.person),
  groups: merged(values.group),
  group_properties: mergedByType(values["group-property"]),
});

/** @throws Failure usage without --distinct-id */
function explainRequest(values: Settings<typeof explainOptions>["values"]) {
  if (values["distinct-id"] !== undefined) return aboutIn(values);
  const example = `phx-sim flags explain ${clean(values.key)} --distinct-id user-1`;
  throw new Failure("usage", `flags explain needs --distinct-id, e.g. ${example}`);
}

async function decisions(settings: Settings<typeof decisionsOptions>, shell: Shell) {
  const { key, project, limit, json, "distinct-id": distinct_id } = settings.values;
  const running = await findRunning(settings, shell);
  const get = (path: string) => callSim(running, "GET", path);
  const { entries } = await newest<FlagDecision>(get, decisionPages, { key, project, distinct_id, limit });
  return print(shell, json, { decisions: entries }, decisionLines(entries, shell.outStyle));
}

export const flagCommands: readonly Command[] = [
  thinCommand({
    name: "flags list",
    describe: "List the flags with their rules and overrides",
    options: optionsOf(FlagListQuery),
    examples: [["phx-sim flags list", "of all projects"]],
    call: "GET flags",
    lines: ({ flags }: { flags: FlagSummary[] }, style) => listLines(flags, style),
  }),
  thinCommand({
    name: "flags set",
    describe: "Override a flag until it is unset or the sim is reset",
    options: {
      key,
      value: { kind: "flag value", describe: "true, false or a variant", place: 2 },
      ...optionsOf(OverrideOrder.omit({ value: true })),
    },
    examples: [
      ["phx-sim flags set new-checkout test", "the variant, for everybody"],
      ["phx-sim flags set beta-feature false --distinct-id user-1", "for one user"],
    ],
    call: "PUT flags/:key",
    lines: (answer: FlagOverrideSet) => [setLine(answer)],
  }),
  thinCommand({
    name: "flags unset",
    describe: "Remove a flag's overrides",
    options: { key, ...optionsOf(OverrideSelection.omit({ for: true })) },
    examples: [["phx-sim flags unset new-checkout", "back to its rules"]],
    call: "DELETE flags/:key",
    lines: ({ removed }: { removed: number }, _, { key }) => [
      `removed ${counted(removed, "override")} of ${clean(key)}`,
    ],
  }),
  thinCommand({
    name: "flags explain",
    describe: "Explain why a user gets a flag's value",
    options: explainOptions,
    examples: [
      ["phx-sim flags explain new-checkout --distinct-id user-1 --person plan=pro", "with a property"],
      [
        "phx-sim flags explain beta --distinct-id user-1 --group company:acme --group-property company.plan=pro",
        "with a group",
      ],
    ],
    call: "POST flags/:key/explain",
    reads: true,
    sends: explainRequest,
    lines: explainLines,
  }),
  thinCommand({
    name: "flags simulate",
    describe: "Count the values that generated users get",
    options: { key, ...optionsOf(SimulateRequest.omit(objects)), ...about },
    examples: [["phx-sim flags simulate new-checkout --count 10000", "how the variants are spread"]],
    call: "POST flags/:key/simulate",
    reads: true,
    sends: aboutIn,
    lines: simulateLines,
  }),
  command({
    name: "flags decisions",
    describe: "List the served flags with subject and reason, newest first",
    options: decisionsOptions,
    examples: [["phx-sim flags decisions --key new-checkout --distinct-id user-1", "one flag, one user"]],
    run: decisions,
  }),
];
