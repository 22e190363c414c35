import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { type Path, pointerStep } from "../../../src/kernel/base/json.ts";
import { jsonText } from "../../copy/quote.ts";
import { numberText } from "../text.ts";
import { type Group, type Groups, groupPlace } from "./property-groups.ts";
import { cutText, finderOf, shortText, visible } from "./safe-text.ts";

export type Kind = "text" | "number" | "boolean" | "null" | "list" | "object";

/** Number of children shown at once. */
export const pageSize = 100;

export const kinds: Readonly<Record<Kind, { readonly name: string; readonly mark: string }>> = {
  text: { name: "text", mark: "T" },
  number: { name: "number", mark: "#" },
  boolean: { name: "boolean", mark: "?" },
  null: { name: "null", mark: "∅" },
  list: { name: "list", mark: "[]" },
  object: { name: "object", mark: "{}" },
};

export function kindOf(value: Json): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  return typeof value as "number" | "boolean" | "object";
}

const isBranch = (value: Json): value is Json[] | { [key: string]: Json } =>
  typeof value === "object" && value !== null;

/** A half-open range. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Changes by the user; everything else is in its initial state. */
export interface TreeState {
  /** Ids of nodes that were expanded or collapsed. */
  readonly turned: ReadonlyMap<string, boolean>;
  /** Visible children of a node (default: the first hundred). */
  readonly ranges: ReadonlyMap<string, Range>;
  /** Ids of strings that are shown in full. */
  readonly whole: ReadonlySet<string>;
}

export const firstState: TreeState = { turned: new Map(), ranges: new Map(), whole: new Set() };

export interface TreeOptions {
  /** Groups of the root's properties. */
  readonly groups?: Groups | undefined;
  /** Initially expanded levels, from 1. */
  readonly open?: number;
}

interface Placed {
  /** JSON pointer; for other rows, a word without a slash. */
  readonly id: string;
  /** Parent node; "" is the root, which has no row. */
  readonly parent: string;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
}

/** A visible row of the tree. */
export type TreeRow =
  | (Placed & {
      readonly is: "value";
      readonly path: Path;
      readonly name: string;
      readonly value: Json;
      readonly kind: Kind;
      /** Undefined if it cannot be expanded. */
      readonly isOpen: boolean | undefined;
      /** Number of children, or characters of a string. */
      readonly size: number;
      /** False for a truncated string. */
      readonly isWhole: boolean;
    })
  | (Placed & {
      readonly is: "group";
      readonly title: string;
      readonly size: number;
      readonly isOpen: boolean;
      /** Summary of a collapsed group. */
      readonly summary: string;
    })
  | (Placed & {
      readonly is: "more";
      /** Hidden children before or after the visible ones. */
      readonly side: Side;
      readonly left: number;
      readonly total: number;
    });

type Side = "before" | "after";

/** An object key or a list index. */
type Step = string | number;

const stepsIn = (value: Json): readonly Step[] => {
  if (Array.isArray(value)) return Array.from(value, (_, i) => i);
  return isBranch(value) ? Object.keys(value) : [];
};

const childOf = (value: Json, step: Step): Json => {
  if (Array.isArray(value)) return value[Number(step)] ?? null;
  return isBranch(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null;
};

function sizeOf(value: Json): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isBranch(value) ? Object.keys(value).length : 0;
}

const isShort = (value: Json): boolean => typeof value !== "string" || value.length <= shortText;

const firstPage: Range = { from: 0, to: pageSize };

const rangeOf = (state: TreeState, id: string): Range => state.ranges.get(id) ?? firstPage;

interface Walk {
  readonly rows: TreeRow[];
  readonly state: TreeState;
  readonly open: number;
}

function addChildren(walk: Walk, value: Json, steps: readonly Step[], at: Above): void {
  const { from, to } = rangeOf(walk.state, at.id);
  const end = Math.min(to, steps.length);
  if (from > 0) walk.rows.push(moreRow(at, "before", from, steps.length));
  for (let i = from; i < end; i++) addValue(walk, value, steps, i, at);
  if (end < steps.length) walk.rows.push(moreRow(at, "after", steps.length - end, steps.length));
}

const moreRow = (at: Above, side: Side, left: number, total: number): TreeRow => ({
  is: "more",
  id: `${side}:${at.id}`,
  parent: at.id,
  level: at.level + 1,
  position: side === "before" ? left : total - left + 1,
  siblings: total,
  side,
  left,
  total,
});

interface Above {
  readonly id: string;
  readonly pointer: string;
  readonly path: Path;
  readonly level: number;
}

/** The row of a value; the root's path is empty. */
const valueRow = (
  { state, open }: Walk,
  value: Json,
  at: Pick<TreeRow, "id" | "parent" | "level" | "position" | "siblings"> & { readonly path: Path },
) => {
  const size = sizeOf(value);
  const canOpen = isBranch(value) && size > 0 && at.path.length > 0;
  return {
    ...at,
    is: "value" as const,
    name: String(at.path.at(-1) ?? ""),
    value,
    kind: kindOf(value),
    isOpen: canOpen ? (state.turned.get(at.id) ?? at.level < open) : undefined,
    size,
    isWhole: isShort(value) || state.whole.has(at.id),
  };
};

function addValue(walk: Walk, parent: Json, steps: readonly Step[], i: number, above: Above): void {
  const step = steps[i] ?? "";
  const value = childOf(parent, step);
  const id = above.pointer + pointerStep(step);
  const level = above.level + 1;
  const path = [...above.path, step];
  const place = { parent: above.id, position: i + 1, siblings: steps.length };
  const row = valueRow(walk, value, { id, level, path, ...place });
  walk.rows.push(row);
  if (row.isOpen) addChildren(walk, value, stepsIn(value), { id, pointer: id, path, level });
}

/** Keys by group; empty groups are left out. */
function membersOf(value: Json, groups: Groups): { group: Group; steps: Step[] }[] {
  const parts = groups.map((group) => ({ group, steps: [] as Step[] }));
  for (const step of stepsIn(value)) parts[groupPlace(groups, String(step), childOf(value, step))]?.steps.push(step);
  return parts.filter((it) => it.steps.length > 0);
}

const [summarized, longestValue] = [4, 40];

const wordOf = (value: Json): string =>
  isBranch(value) ? "" : visible(cutText(String(value), longestValue)) + (sizeOf(value) > longestValue ? "…" : "");

const moreText = (left: number): string => (left > 0 ? ` · ${numberText(left)} more` : "");

/** The group's own words, or the first names and values; for nulls the names only. */
function summaryOf(value: Json, steps: readonly Step[], group: Group): string {
  const own = (kindOf(value) === "object" && group.summary?.(value as JsonObject)) || [];
  const shown = own.filter((it) => it !== "");
  if (shown.length > 0) return shown.slice(0, summarized).map(wordOf).join(" · ") + moreText(shown.length - summarized);
  const words = steps.slice(0, summarized).map((step) => {
    const child = childOf(value, step);
    const name = visible(cutText(String(step), longestValue)).replace(/^\$/, "");
    return child === null ? name : `${name} ${wordOf(child)}`.trim();
  });
  const isAllNull = steps.every((it) => childOf(value, it) === null);
  return words.join(" · ") + (steps.length > summarized ? " …" : "") + (isAllNull ? ", all null" : "");
}

function addGroups(walk: Walk, value: Json, groups: Groups): void {
  const parts = membersOf(value, groups);
  // without own properties, the first group is expanded
  const isAnyOpen = parts.some(({ group }) => group.isOpen);
  for (const [i, { group, steps }] of parts.entries()) {
    const isOpen = walk.state.turned.get(group.id) ?? (group.isOpen || (i === 0 && !isAnyOpen));
    const place = { id: group.id, parent: "", level: 1, position: i + 1, siblings: parts.length };
    const summary = isOpen ? "" : summaryOf(value, steps, group);
    walk.rows.push({ ...place, is: "group", title: group.title, size: steps.length, isOpen, summary });
    if (isOpen) addChildren(walk, value, steps, { id: group.id, pointer: "", path: [], level: 1 });
  }
}

const groupsFor = (root: Json, { groups }: TreeOptions): Groups | undefined =>
  kindOf(root) === "object" ? groups : undefined;

/** The visible rows. The root has none, unless it is a single value. */
export function rowsOf(value: Json, state: TreeState, options: TreeOptions = {}): TreeRow[] {
  const groups = groupsFor(value, options);
  const walk: Walk = { rows: [], state, open: (options.open ?? 1) + (groups ? 1 : 0) };
  if (groups) addGroups(walk, value, groups);
  else if (isBranch(value)) addChildren(walk, value, stepsIn(value), { id: "", pointer: "", path: [], level: 0 });
  else walk.rows.push(valueRow(walk, value, { id: "/", parent: "", level: 1, position: 1, siblings: 1, path: [] }));
  return walk.rows;
}

const withEntry = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(key, value);

export const turn = (state: TreeState, id: string, isOpen: boolean): TreeState => ({
  ...state,
  turned: withEntry(state.turned, id, isOpen),
});

export function showMore(state: TreeState, id: string, side: Side = "after"): TreeState {
  const { from, to } = rangeOf(state, id);
  const range = side === "after" ? { from, to: to + pageSize } : { from: Math.max(0, from - pageSize), to };
  return { ...state, ranges: withEntry(state.ranges, id, range) };
}

export const showWhole = (state: TreeState, id: string): TreeState => ({
  ...state,
  whole: new Set(state.whole).add(id),
});

const shorthand = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** A JSON path, RFC 9535: `$.items[0]["my key"]`. */
export const jsonPath = (path: Path): string =>
  `$${path
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return shorthand.test(step) ? `.${step}` : `[${jsonText(step)}]`;
    })
    .join("")}`;

export interface Found {
  readonly hits: readonly Hit[];
  /** True if the search stopped at its limit. */
  readonly isCut: boolean;
}

export interface Hit {
  readonly id: string;
  readonly path: Path;
  /** Index among its siblings, by level. */
  readonly places: readonly number[];
  /** Id of its group, or "". */
  readonly group: string;
}

const mostHits = 1_000;

interface Node extends Hit {
  readonly value: Json;
}

const textOf = (value: Json): string => (typeof value === "string" ? value : String(value));

const fits = (finder: RegExp, text: string): boolean => text.search(finder) !== -1;

function isHit(finder: RegExp, { value, path }: Node): boolean {
  const name = path.at(-1);
  if (typeof name === "string" && fits(finder, name)) return true;
  return !isBranch(value) && fits(finder, textOf(value));
}

const childAt = (node: Node, step: Step, place: number, group = node.group): Node => ({
  value: childOf(node.value, step),
  id: node.id + pointerStep(step),
  path: [...node.path, step],
  places: [...node.places, place],
  group,
});

const childrenOf = (node: Node): Node[] => stepsIn(node.value).map((step, i) => childAt(node, step, i));

/** The root's children in display order. */
const groupedChildren = (root: Node, groups: Groups): Node[] =>
  membersOf(root.value, groups).flatMap(({ group, steps }) => steps.map((step, i) => childAt(root, step, i, group.id)));

/** Finds a string in keys and values, ignoring case. */
export function searchIn(root: Json, text: string, options: TreeOptions = {}): Found {
  const finder = finderOf(text);
  const hits: Hit[] = [];
  if (finder === undefined) return { hits, isCut: false };
  const groups = groupsFor(root, options);
  // an explicit stack: payloads may be nested deeper than the call stack allows
  const first: Node = { value: root, id: "", path: [], places: [], group: "" };
  const children = groups ? groupedChildren(first, groups) : childrenOf(first);
  const waiting: Node[] = isBranch(root) ? children.reverse() : [{ ...first, id: "/" }];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { value, ...hit } = node;
    if (isHit(finder, node)) hits.push(hit);
    if (hits.length === mostHits) return { hits, isCut: waiting.length > 0 };
    if (isBranch(value)) for (const child of childrenOf(node).reverse()) waiting.push(child);
  }
  return { hits, isCut: false };
}

/** Maximum number of children shown for a search; beyond it, only the hit's own page is shown. */
const mostDrawn = 500;

/** The shown range extended to the page of an index; only that page if the range is too large. */
function rangeWith({ from, to }: Range, place: number): Range {
  if (place >= from && place < to) return { from, to };
  const start = Math.floor(place / pageSize) * pageSize;
  const both = { from: Math.min(from, start), to: Math.max(to, start + pageSize) };
  return both.to - both.from <= mostDrawn ? both : { from: start, to: start + pageSize };
}

/** Expands all ancestors of a hit. */
export function reveal(state: TreeState, hit: Hit): TreeState {
  const turned = new Map(state.turned);
  const ranges = new Map(state.ranges);
  let id = "";
  for (const [depth, step] of hit.path.entries()) {
    const above = depth === 0 ? hit.group : id;
    if (above !== "") turned.set(above, true);
    ranges.set(above, rangeWith(ranges.get(above) ?? firstPage, hit.places[depth] ?? 0));
    id += pointerStep(step);
  }
  return { ...state, turned, ranges };
}

/** Expands the ancestors of the first hits. */
export const revealAll = (state: TreeState, found: Found, most = 50): TreeState =>
  found.hits.slice(0, most).reverse().reduce(reveal, state);

/** Effect of a key: a row to move to, or a node to expand or collapse. */
type Move = { readonly go: number } | { readonly turn: string; readonly isOpen: boolean };

const isOpenOf = (row: TreeRow | undefined): boolean | undefined =>
  row === undefined || row.is === "more" ? undefined : row.isOpen;

const rightOf = (rows: readonly TreeRow[], at: number): Move | undefined => {
  const row = rows[at];
  const isOpen = isOpenOf(row);
  if (row === undefined || isOpen === undefined) return undefined;
  return isOpen ? { go: at + 1 } : { turn: row.id, isOpen: true };
};

const leftOf = (rows: readonly TreeRow[], at: number): Move | undefined => {
  const row = rows[at];
  if (row === undefined) return undefined;
  if (isOpenOf(row) === true) return { turn: row.id, isOpen: false };
  const above = rows.findIndex((it) => it.id === row.parent);
  return above === -1 ? undefined : { go: above };
};

const moves: Readonly<Record<string, (rows: readonly TreeRow[], at: number) => Move | undefined>> = {
  ArrowDown: (rows, at) => ({ go: Math.min(at + 1, rows.length - 1) }),
  ArrowUp: (_, at) => ({ go: Math.max(at - 1, 0) }),
  Home: () => ({ go: 0 }),
  End: (rows) => ({ go: rows.length - 1 }),
  PageDown: (rows, at) => ({ go: Math.min(at + 10, rows.length - 1) }),
  PageUp: (_, at) => ({ go: Math.max(at - 10, 0) }),
  ArrowRight: rightOf,
  ArrowLeft: leftOf,
};

/** Keys of a tree, as in the ARIA practices; undefined for other keys. */
export const stepFor = (rows: readonly TreeRow[], at: number, key: string): Move | undefined =>
  Object.hasOwn(moves, key) && rows.length > 0 ? moves[key]?.(rows, at) : undefined;
