import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { type Node, parse } from "../../../src/state/journal/filter/parse.ts";
import type { Span, Term, Value } from "../../../src/state/journal/filter/scan.ts";

/** The part of a filter that a query can express. */
export interface Conditions {
  /** Names of events; empty: any event. */
  readonly events: readonly string[];
  /** The service's property filters; all of them must match. */
  readonly properties: readonly JsonObject[];
  readonly project: number | undefined;
  /** Terms of the filter that no query can express, and why. */
  readonly leftOut: readonly { readonly term: string; readonly why: string }[];
}

interface Draft {
  events: readonly string[] | undefined;
  properties: JsonObject[];
  project: number | undefined;
  leftOut: { term: string; why: string }[];
}

const isGlob = ({ text, isQuoted, op }: Value): boolean => op === ":" && !isQuoted && text.includes("*");

const globPattern = (text: string): string =>
  `^${text
    .split("*")
    .map((it) => it.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*")}$`;

const orders: Readonly<Record<string, string>> = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" };

/** The operator and value of a property filter; undefined if there is none. */
function comparison(values: readonly Value[], isNegated: boolean): JsonObject | undefined {
  const [first] = values;
  if (!first) return undefined;
  const not = (operator: string) => (isNegated ? `not_${operator}` : operator);
  if (values.every((it) => it.op === ":" && !isGlob(it) && (it.isQuoted || it.text !== "null"))) {
    const texts = values.map((it) => it.text);
    return { operator: isNegated ? "is_not" : "exact", value: texts.length === 1 ? (texts[0] ?? "") : texts };
  }
  if (values.length > 1) return undefined;
  if (isGlob(first)) return { operator: not("regex"), value: globPattern(first.text) };
  if (first.op === "~") return { operator: not("icontains"), value: first.text };
  const order = orders[first.op];
  // events without the property match a negated comparison of a filter, and none of a query
  return order === undefined || isNegated || Number.isNaN(Number(first.text))
    ? undefined
    : { operator: order, value: first.text };
}

const isProperty = ([first, , ...rest]: readonly string[]): boolean =>
  (first === "prop" || first === "properties") && rest.length === 0;

/** Fields of events that queries filter by, next to properties. */
const metadata: Readonly<Record<string, string>> = {
  event: "event",
  name: "event",
  distinct_id: "distinct_id",
  id: "distinct_id",
};

const reasons: Readonly<Record<string, string>> = {
  has: "only properties can be set or not",
  is: "queries count all kept events, and no dropped ones",
  reason: "queries do not know reasons and warnings",
  since: "it is a time of arrival; choose the range of the insight",
  until: "it is a time of arrival; choose the range of the insight",
  time: "it is a time of arrival; choose the range of the insight",
  seq: "queries do not know the order of arrival",
  person: "queries know the current person, not the one at that moment",
};

const whyNot = (name: string): string => reasons[name] ?? `queries do not know the field "${name}"`;

/** Adds a term; false if no query can express it. */
function addTerm(draft: Draft, { name: { path }, values }: Term, isNegated: boolean): boolean {
  const [field = "", second = ""] = path;
  const [value] = values;
  if (isProperty(path)) {
    const compared = comparison(values, isNegated);
    if (compared) draft.properties.push({ type: "event", key: second, ...compared });
    return compared !== undefined;
  }
  if (path.length > 1 || value === undefined) return false;
  const isPlain = values.every((it) => it.op === ":" && !isGlob(it));
  if (metadata[field] === "event" && isPlain && !isNegated && draft.events === undefined) {
    draft.events = values.map((it) => it.text);
    return true;
  }
  if (field in metadata) {
    const compared = comparison(values, isNegated);
    if (compared) draft.properties.push({ type: "event_metadata", key: metadata[field] ?? "", ...compared });
    return compared !== undefined;
  }
  if (values.length > 1) return false;
  if (field === "has" && value.text.startsWith("prop.")) {
    const operator = isNegated ? "is_not_set" : "is_set";
    draft.properties.push({ type: "event", key: value.text.slice(5), operator, value: operator });
    return true;
  }
  if (field === "project" && !isNegated && /^\d+$/.test(value.text)) {
    draft.project = Number(value.text);
    return true;
  }
  // queries count kept events anyway
  return field === "outcome" && !isNegated && value.text === "kept";
}

const spanOf = (node: Node): Span | undefined => (node.kind === "term" ? node.term : undefined);

function add(draft: Draft, node: Node, text: string, isNegated = false): void {
  if (node.kind === "all" && !isNegated) {
    for (const it of node.of) add(draft, it, text);
    return;
  }
  if (node.kind === "not") {
    add(draft, node.of, text, !isNegated);
    return;
  }
  if (node.kind === "term") {
    if (addTerm(draft, node.term, isNegated)) return;
    const { at, length } = node.term;
    const why = isProperty(node.term.name.path)
      ? "this comparison is not one of queries"
      : whyNot(node.term.name.path[0] ?? "");
    draft.leftOut.push({ term: `${isNegated ? "-" : ""}${text.slice(at, at + length)}`, why });
    return;
  }
  if (node.kind === "text") {
    draft.leftOut.push({ term: node.text, why: "queries do not search for text" });
    return;
  }
  const spans = node.of.map(spanOf);
  const from = Math.min(...spans.map((it) => it?.at ?? 0));
  const to = Math.max(...spans.map((it) => (it ? it.at + it.length : text.length)));
  draft.leftOut.push({ term: text.slice(from, to), why: "alternatives of several terms" });
}

/** What a query can express of a filter of events; a filter with mistakes is left out as a whole. */
export function conditionsOf(text: string): Conditions {
  const draft: Draft = { events: undefined, properties: [], project: undefined, leftOut: [] };
  const { node, problems } = parse(text);
  if (problems.length === 0) add(draft, node, text);
  else draft.leftOut.push({ term: text, why: problems[0]?.message ?? "" });
  return { ...draft, events: draft.events ?? [] };
}
