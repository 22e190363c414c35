import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { bodyOf, queryChoice } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { projectIn } from "../feed/asked.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";
import { createDecisionBook, type DecisionBook } from "./decision-book.ts";
import { flagDecisions } from "./decisions.ts";
import { explain, explainNames, projectGiven } from "./explain.ts";
import { givenIn, givenInQuery } from "./given.ts";
import { listFlags, shownFlag } from "./list.ts";
import { removeOverrides, setOverride } from "./overrides.ts";
import { projectOf } from "./place.ts";
import { served } from "./served.ts";
import { distribution, simulateNames } from "./simulate.ts";

const keyOf = (call: Call): string => call.params.key ?? "";

type Handle = (desk: ControlDesk, call: Call) => Reply | Promise<Reply>;

const list: Handle = (desk, call) => json({ flags: listFlags(desk, projectGiven(givenInQuery(call))) });

const clear: Handle = (desk, call) =>
  json({ removed: removeOverrides(desk, { project: projectGiven(givenInQuery(call)) }) });

const show: Handle = (desk, call) =>
  json(shownFlag(desk, projectOf(desk, projectGiven(givenInQuery(call))), keyOf(call)));

const put: Handle = (desk, call) => json(setOverride(desk, keyOf(call), bodyOf(call)));

/** Whose override; undefined: all. An empty id is nobody's; it must not stand for all. */
function whoseOf(call: Call): string | null | undefined {
  const isForAll = queryChoice(call, "for", ["everybody"] as const) !== undefined;
  return isForAll ? null : (call.query.get("distinct_id") ?? undefined);
}

const unset: Handle = (desk, call) => {
  const project = projectOf(desk, projectGiven(givenInQuery(call))).id;
  return json({ removed: removeOverrides(desk, { project, key: keyOf(call), distinctId: whoseOf(call) }) });
};

const why: Handle = (desk, call) => {
  const given = givenIn(call, explainNames);
  return json(explain(desk, projectOf(desk, projectGiven(given)), keyOf(call), given));
};

const simulated: Handle = async (desk, call) => {
  const given = givenIn(call, simulateNames);
  return json(await distribution(desk, projectOf(desk, projectGiven(given)), keyOf(call), given));
};

const flags = "/__sim/flags";

const rowsWith = (book: DecisionBook): readonly ControlRow<ControlDesk>[] => [
  ["GET", flags, "Flags with their rules in short and their overrides: project", list],
  ["DELETE", flags, "Removes the overrides of one project or of all", clear],
  ["GET", `${flags}/:key`, "One flag: project (the first unless told)", show],
  ["PUT", `${flags}/:key`, "Overrides a flag: value, payload, distinct_id, project, force", put],
  [
    "DELETE",
    `${flags}/:key`,
    "Removes a flag's overrides, all, a distinct_id's, or the one for=everybody: project, distinct_id, for",
    unset,
  ],
  ["GET", `${flags}/:key/explain`, "Why somebody gets a flag's value; objects of the query are JSON", why],
  ["POST", `${flags}/:key/explain`, "The same, asked with a JSON body", why],
  ["GET", `${flags}/:key/simulate`, "What the rules give to generated subjects", simulated],
  ["POST", `${flags}/:key/simulate`, "The same, asked with a JSON body", simulated],
  [
    "GET",
    `${flags}/:key/served`,
    "What clients got, newest first: project, distinct_id, value; wait_ms waits for one that fits",
    served(book),
  ],
  [
    "GET",
    "/__sim/flag-decisions",
    "Who was given which flags and why, and what followed, newest first: project, key, distinct_id, before, since, limit",
    flagDecisions(book),
  ],
  [
    "GET",
    "/__sim/flag-decisions/totals",
    "How often each flag was decided, and used, with which values: project",
    async (_, call) => json({ ...(await book.totals(projectIn(call))) }),
  ],
];

/** Overrides of flags, and why flags are what they are. */
export const flagEndpoints = (desk: ControlDesk): Endpoint[] =>
  endpointsOf(rowsWith(createDecisionBook(desk.log)), desk);
