import type { Call } from "../http/call.ts";
import type { QueryParameter } from "../http/endpoint.ts";
import type { Json } from "../kernel/json.ts";
import { tidyTags } from "../model/tags.ts";
import type { Caller } from "./access.ts";

/** One query parameter that narrows a list. */
export interface ListFilter<T> extends QueryParameter {
  /** The test of the documents; undefined when what was sent means nothing. Called only when something was sent. */
  test(values: readonly string[], caller: Caller): ((document: T) => boolean) | undefined;
}

/** Documents that pass all filters of the call. @param always A test that every document has to pass. */
export function filtered<T>(
  call: Call,
  caller: Caller,
  filters: readonly ListFilter<T>[],
  documents: readonly T[],
  always?: (document: T) => boolean,
): readonly T[] {
  const tests = filters.flatMap(({ name, test }) => {
    const values = call.query.getAll(name).filter((value) => value !== "");
    const found = values.length > 0 ? test(values, caller) : undefined;
    return found ? [found] : [];
  });
  if (always) tests.push(always);
  return tests.length === 0 ? documents : documents.filter((it) => tests.every((test) => test(it)));
}

/** The filters as the endpoint's docs have them. */
export const filterQuery = <T>(filters: readonly ListFilter<T>[]): QueryParameter[] =>
  filters.map(({ name, description, schema }) => ({ name, description, schema }));

const truths = new Set(["y", "yes", "t", "true", "on", "1"]);

/** Upstream `str_to_bool`: what is not one of these words is false. */
export const isTrue = (value: Json | undefined): boolean =>
  typeof value !== "object" && truths.has(String(value).toLowerCase());

/** A JSON array's members; undefined when it is none. */
export function jsonList(text: string): Json[] | undefined {
  try {
    const value: Json = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const wordsIn = (values: readonly string[]): string[] =>
  values.flatMap((value) => jsonList(value)?.map(String) ?? value.split(","));

/** Text in one of a document's texts, in any case. Keeping them in lower case was measured: no gain. */
export const searchFilter = <T>(
  description: string,
  textsOf: (document: T) => readonly (string | null)[],
): ListFilter<T> => ({
  name: "search",
  description,
  schema: { type: "string" },
  test([value = ""]) {
    const wanted = value.toLowerCase();
    return (document) => textsOf(document).some((it) => it?.toLowerCase().includes(wanted));
  },
});

export const tagsFilter: ListFilter<{ tags: readonly string[] }> = {
  name: "tags",
  description: "Only what has one of these tags: a JSON array, or texts with commas",
  schema: { type: "string" },
  test(values) {
    const wanted = new Set(tidyTags(wordsIn(values)));
    return ({ tags }) => tags.some((tag) => wanted.has(tag));
  },
};

export const authorFilter: ListFilter<{ created_by: number | null }> = {
  name: "created_by",
  description: "Only what the user with this id made",
  schema: { type: "integer" },
  test([value]) {
    const wanted = Number(value);
    return Number.isInteger(wanted) ? ({ created_by }) => created_by === wanted : undefined;
  },
};
