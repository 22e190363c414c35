import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import type { EventSubject, Filter, FilterProblem, FilterReading, RequestSubject } from "../filter/types.ts";
import { columnLimits } from "./column-limits.ts";
import { type ClientFrame, protocol } from "./frames.ts";
import type { FilterReaders, Kinds } from "./ports.ts";

export type Subscribe = Extract<ClientFrame, { t: "subscribe" }>;

type Check = readonly [key: string, isValid: (value: Json | undefined) => boolean, expected: string];

const isWhole = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isText = (value: Json | undefined): value is string => typeof value === "string";
const isTextOrNull = (value: Json | undefined): value is string | null => value === null || isText(value);
const optional =
  (isValid: (value: Json | undefined) => boolean) =>
  (value: Json | undefined): boolean =>
    value === undefined || isValid(value);

const isColumns = (value: Json | undefined): boolean =>
  Array.isArray(value) &&
  value.length <= columnLimits.columns &&
  value.every((it) => isText(it) && it.length <= columnLimits.name);

const checks: ReadonlyMap<string, readonly Check[]> = new Map([
  [
    "hello",
    [
      ["v", (v) => v === protocol, `${protocol}`],
      ["token", optional(isText), "text"],
    ],
  ],
  [
    "subscribe",
    [
      ["id", isWhole, "a whole number"],
      ["epoch", optional(isText), "text"],
      ["cursor", optional(isWhole), "a whole number"],
      ["project", optional(isWhole), "a whole number"],
      ["events", isTextOrNull, "text or null"],
      ["requests", isTextOrNull, "text or null"],
      ["columns", optional(isColumns), "a short list of names"],
    ],
  ],
]);

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function readFrame(text: string | null): { readonly frame: ClientFrame } | { readonly problem: string } {
  const value = text === null ? undefined : parseObject(text);
  if (value === undefined) return { problem: "a message must be a JSON object" };
  const rows = typeof value.t === "string" ? checks.get(value.t) : undefined;
  if (rows === undefined) return { problem: '"t" must be hello or subscribe' };
  const wrong = rows.find(([key, isValid]) => !isValid(value[key]));
  if (wrong !== undefined) return { problem: `${value.t}: "${wrong[0]}" must be ${wrong[2]}` };
  // the table has checked it
  return { frame: value as unknown as ClientFrame };
}

export type RowSelection<Subject> = "none" | "all" | Filter<Subject>;

export interface Subscription {
  /** Subscriptions with the same key get the same frames. */
  readonly key: string;
  readonly project: number | undefined;
  readonly events: RowSelection<EventSubject>;
  readonly requests: RowSelection<RequestSubject>;
  readonly columns: readonly string[];
  readonly needs: Kinds;
}

interface Refusal {
  readonly field: "events" | "requests";
  readonly problems: readonly FilterProblem[];
}

type Problems = readonly FilterProblem[];

function selectionOf<Subject>(
  text: string | null,
  read: (text: string) => FilterReading<Subject>,
): RowSelection<Subject> | Problems {
  if (text === null) return "none";
  if (text.trim() === "") return "all";
  const reading = read(text);
  return "filter" in reading ? reading.filter : reading.problems;
}

const isRefused = <Subject>(it: RowSelection<Subject> | Problems): it is Problems => Array.isArray(it);

export function readSubscription(asked: Subscribe, read: FilterReaders): Subscription | readonly Refusal[] {
  const { project, columns = [] } = asked;
  const events = selectionOf(asked.events, read.events);
  const requests = selectionOf(asked.requests, read.requests);
  if (!isRefused(events) && !isRefused(requests)) {
    const key = JSON.stringify([project ?? null, asked.events, asked.requests, columns]);
    const isFiltered = typeof events === "object" || typeof requests === "object";
    const needs = { events: isFiltered || events === "all", requests: isFiltered || requests === "all" };
    return { key, project, events, requests, columns, needs };
  }
  return [
    ...(isRefused(events) ? [{ field: "events" as const, problems: events }] : []),
    ...(isRefused(requests) ? [{ field: "requests" as const, problems: requests }] : []),
  ];
}
