import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { likeTest } from "../../../kernel/base/wildcard.ts";
import { textOf } from "../../flags/engine/values.ts";
import type { QueryAction, QueryContext } from "../kind.ts";
import { rowsPerStep, type Steps } from "../table.ts";
import { allOf, clickTest, codeTest, everyRow, filterTest, noRow, type RowTest } from "./filters.ts";
import { searchOf } from "./operators.ts";
import { refuse } from "./refuse.ts";
import type { SeriesNode } from "./shapes.ts";

/** Events with this name; null is every event. */
function nameTest(event: string | null | undefined, { table }: QueryContext): RowTest {
  if (event === null || event === undefined) return everyRow;
  const { codes, values } = table.names;
  const code = values.indexOf(event);
  return code === -1 ? noRow : (row) => codes[row] === code;
}

/** Fields of a step that name an element, with the field that says how. */
const elementFields = [
  { field: "selector", matching: undefined },
  { field: "tag_name", matching: undefined },
  { field: "href", matching: "href_matching" },
  { field: "text", matching: "text_matching" },
] as const;

const matchings: Readonly<Record<string, string>> = { contains: "icontains", regex: "regex" };

/** The element of a click, as a step of an action has it. */
function elementOf(step: JsonObject, context: QueryContext): RowTest {
  return allOf(
    elementFields.flatMap(({ field, matching }) => {
      const value = step[field];
      if (typeof value !== "string" || value === "") return [];
      const way = matching === undefined ? "" : String(step[matching] ?? "");
      const operator = (Object.hasOwn(matchings, way) ? matchings[way] : undefined) ?? "exact";
      return [clickTest(field, operator, value, context)];
    }),
  );
}

function urlTest(url: string, matching: Json | undefined, context: QueryContext): RowTest {
  const column = context.table.property("$current_url");
  const search = matching === "regex" ? searchOf(url) : likeTest(`%${url}%`, false);
  return codeTest(column, (value) => {
    if (value === undefined || value === null) return false;
    const text = textOf(value);
    return matching === "exact" ? text === url : search(text);
  });
}

function stepTest(step: JsonObject, context: QueryContext): RowTest {
  const { event, url, url_matching: matching, properties } = step;
  return allOf([
    typeof event === "string" && event !== "" ? nameTest(event, context) : everyRow,
    event === "$autocapture" ? elementOf(step, context) : everyRow,
    typeof url === "string" && url !== "" ? urlTest(url, matching, context) : everyRow,
    filterTest(properties, context),
  ]);
}

/** Upstream PostHog/posthog posthog/hogql/property.py, `steps_to_expr`. */
export function actionTest({ steps }: QueryAction, context: QueryContext): RowTest {
  if (steps.length === 0) return everyRow;
  const tests = steps.map((step) => stepTest(isObject(step) ? step : {}, context));
  return tests.includes(everyRow) ? everyRow : (row) => tests.some((test) => test(row));
}

/** What a series counts: its event or action without its own filters, and its name; null is every event. */
export interface Entity {
  readonly name: string | null;
  readonly test: RowTest;
}

/** @returns undefined if the node's action does not exist */
export function entityOf(node: SeriesNode, context: QueryContext): Entity | undefined {
  if (node.kind === "EventsNode") {
    return { name: node.event ?? null, test: nameTest(node.event, context) };
  }
  const action = context.action?.(node.id);
  return action && { name: action.name, test: actionTest(action, context) };
}

/** @throws SimError if the node's action does not exist */
export function existingEntity(node: SeriesNode, context: QueryContext): Entity {
  const entity = entityOf(node, context);
  if (entity) return entity;
  throw refuse(`Action ID ${node.kind === "ActionsNode" ? node.id : ""} does not exist!`);
}

/** Times of events, in ms; both ends included. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Rows of a span that pass a test, in the order of the table. */
export function* selectRows({ table }: QueryContext, { from, to }: TimeSpan, test: RowTest): Steps<Uint32Array> {
  const { times, length } = table;
  const rows = new Uint32Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (row % rowsPerStep === 0) yield;
    const time = times[row] ?? 0;
    if (time >= from && time <= to && test(row)) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

/** Events before are damaged. Upstream: `EARLIEST_EVENT_TIMESTAMP`. */
const firstTime = Date.UTC(1980, 0, 1);

/** Time of the first event that passes; a week ago if there is none. */
export function* earliestTime({ table, now }: QueryContext, test: RowTest): Steps<number> {
  let earliest = Infinity;
  for (let row = 0; row < table.length; row++) {
    if (row % rowsPerStep === 0) yield;
    const time = table.times[row] ?? 0;
    if (time > firstTime && time < earliest && test(row)) earliest = time;
  }
  return earliest === Infinity ? now - 7 * 86_400_000 : earliest;
}
