import { z } from "zod";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { projectOf } from "../../state/documents/project-lookup.ts";
import { listDecisions, servingsOf } from "./decision-list.ts";
import {
  DecisionSelection,
  FlagDecisions,
  FlagSeen,
  FlagServings,
  FlagTotals,
  ServedQuery,
} from "./decision-shapes.ts";
import { distribution, explain } from "./explanations.ts";
import { flagInFull, listFlags } from "./flag-list.ts";
import { removeOverrides, setOverride } from "./overrides.ts";
import type { FlagPorts } from "./ports.ts";
import { seenOf } from "./seen.ts";
import {
  ExplainQuery,
  ExplainRequest,
  FlagDistribution,
  FlagExplanation,
  FlagInFull,
  FlagListQuery,
  FlagOverrideSet,
  FlagQuery,
  FlagSummary,
  OverrideOrder,
  OverrideSelection,
  SimulateQuery,
  SimulateRequest,
} from "./shapes.ts";

const Removed = z.strictObject({ removed: z.int().describe("Number of removed overrides") });

const flags = "/__sim/flags";
const path = `${flags}/:key` as const;

const projectIn = ({ worlds }: FlagPorts, { project }: { project?: number | null | undefined }) =>
  projectOf(worlds, project ?? undefined);

const overrideRows = (ports: FlagPorts) => [
  row({
    method: "GET",
    path: flags,
    access: "control",
    summary: "Lists the flags with their rules and overrides",
    query: FlagListQuery,
    reply: z.strictObject({ flags: z.array(FlagSummary) }),
    handle: ({ query }) => ({ flags: listFlags(ports, query.project) }),
  }),
  row({
    method: "DELETE",
    path: flags,
    access: "control",
    summary: "Removes the overrides of one project or of all",
    query: FlagListQuery,
    reply: Removed,
    handle: ({ query }) => ({ removed: removeOverrides(ports, query) }),
  }),
  row({
    method: "GET",
    path,
    access: "control",
    summary: "Returns one flag with its rules as they are written",
    query: FlagQuery,
    errors: [404],
    reply: FlagInFull,
    handle: ({ params, query }) => flagInFull(ports, projectIn(ports, query), params.key),
  }),
  row({
    method: "PUT",
    path,
    access: "control",
    summary: "Overrides a flag",
    body: OverrideOrder,
    errors: [404],
    reply: FlagOverrideSet,
    handle: ({ params, body }) => setOverride(ports, params.key, body),
  }),
  row({
    method: "DELETE",
    path,
    access: "control",
    summary: "Removes overrides of a flag: all, that of a distinct id, or the one for everybody",
    query: OverrideSelection,
    errors: [404],
    reply: Removed,
    handle({ params: { key }, query }) {
      const distinctId = query.for === undefined ? query.distinct_id : null;
      return { removed: removeOverrides(ports, { project: projectIn(ports, query).id, key, distinctId }) };
    },
  }),
];

const questionRows = (ports: FlagPorts) => [
  row({
    method: "GET",
    path: `${path}/explain`,
    access: "control",
    summary: "Explains why a subject gets a flag's value; objects in the query are JSON",
    query: ExplainQuery,
    errors: [404],
    reply: FlagExplanation,
    handle: ({ params, query }) => explain(ports, projectIn(ports, query), params.key, query),
  }),
  row({
    method: "POST",
    path: `${path}/explain`,
    access: "control",
    summary: "Explains why a subject gets a flag's value",
    body: ExplainRequest,
    errors: [404],
    reply: FlagExplanation,
    handle: ({ params, body }) => explain(ports, projectIn(ports, body), params.key, body),
  }),
  row({
    method: "GET",
    path: `${path}/simulate`,
    access: "control",
    summary: "Counts the values that the rules give to generated subjects; objects in the query are JSON",
    query: SimulateQuery,
    errors: [404],
    reply: FlagDistribution,
    handle: ({ params, query }) => distribution(ports, projectIn(ports, query), params.key, query),
  }),
  row({
    method: "POST",
    path: `${path}/simulate`,
    access: "control",
    summary: "Counts the values that the rules give to generated subjects",
    body: SimulateRequest,
    errors: [404],
    reply: FlagDistribution,
    handle: ({ params, body }) => distribution(ports, projectIn(ports, body), params.key, body),
  }),
];

const decisionRows = (ports: FlagPorts) => [
  row({
    method: "GET",
    path: `${path}/seen`,
    access: "control",
    summary: "Counts what the rules give to the ids that were seen, and where their hashes lie",
    query: FlagQuery,
    errors: [404],
    reply: FlagSeen,
    handle: ({ params, query }) => seenOf(ports, projectIn(ports, query), params.key),
  }),
  row({
    method: "GET",
    path: `${path}/served`,
    access: "control",
    summary: "Lists the values of a flag that clients got, newest first; can wait for a value",
    query: ServedQuery,
    reply: FlagServings,
    handle: ({ call, params, query }) => servingsOf(ports, params.key, query, call.signal),
  }),
  row({
    method: "GET",
    path: "/__sim/flag-decisions",
    access: "control",
    summary: "Lists the decisions about flags, their reasons, and the uses that followed, newest first",
    query: DecisionSelection,
    reply: FlagDecisions,
    handle: ({ query }) => listDecisions(ports, query),
  }),
  row({
    method: "GET",
    path: "/__sim/flag-decisions/totals",
    access: "control",
    summary: "Counts how often each flag was decided and used, by value",
    query: FlagListQuery,
    reply: FlagTotals,
    handle: ({ query }) => ports.decisions.totals(query.project),
  }),
];

const needs = ["worlds", "people", "clock", "geoip", "log", "rulesets", "decisions"] as const;

export const flagSlice = slice(needs, (ports: FlagPorts) => [
  ...overrideRows(ports),
  ...questionRows(ports),
  ...decisionRows(ports),
]);
