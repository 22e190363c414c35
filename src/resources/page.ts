import { z } from "zod";
import type { Call } from "../http/call.ts";
import type { QueryParameter } from "../http/endpoint.ts";

const defaultLimit = 100;

/** A number of at least `least`, or undefined: the service ignores what it cannot read. */
function countIn(call: Call, name: string, least: number): number | undefined {
  const text = call.query.get(name)?.trim() ?? "";
  const number = /^\+?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least ? number : undefined;
}

export const pageQuery: readonly QueryParameter[] = [
  { name: "limit", description: "Number of results per page, 100 unless told", schema: { type: "integer" } },
  { name: "offset", description: "Index of the first result", schema: { type: "integer" } },
];

/** The call's URL with other parameters; names in order, as the service writes links. `null` removes one. */
export function linkWith(call: Call, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(call.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  query.sort();
  const path = call.target.split("?", 1)[0] ?? "";
  const text = query.toString();
  return `${call.origin}${path}${text === "" ? "" : `?${text}`}`;
}

export interface Page<T> {
  count: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

/** The part of a list that a call asks for. */
export function windowOf(call: Call): { limit: number; offset: number } {
  return { limit: countIn(call, "limit", 1) ?? defaultLimit, offset: countIn(call, "offset", 0) ?? 0 };
}

/** The envelope of a list. Upstream Django REST framework, LimitOffsetPagination. */
export function pageOf<D, T>(call: Call, documents: readonly D[], show: (document: D) => T): Page<T> {
  const { limit, offset } = windowOf(call);
  const results = documents.slice(offset, offset + limit).map(show);
  return envelope(call, documents.length, results);
}

/** The envelope around results that are already cut out of `count`. */
function envelope<T>(call: Call, count: number, results: T[]): Page<T> {
  const { limit, offset } = windowOf(call);
  const link = (to: number) => linkWith(call, { limit: String(limit), offset: to <= 0 ? null : String(to) });
  return {
    count,
    next: offset + limit >= count ? null : link(offset + limit),
    previous: offset <= 0 ? null : link(offset - limit),
    results,
  };
}

/** The schema of a list's answer. */
export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({
    count: z.int(),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(item),
  });
