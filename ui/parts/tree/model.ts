import type { Json } from "../../../src/kernel/json.ts";
import { type Path, pointerStep } from "../../../src/kernel/json-pointer.ts";
import { jsonText } from "../../copy/quote.ts";
import { type Group, type Groups, groupPlace } from "./groups.ts";
import { cutText, finderOf, shortText, visible } from "./text.ts";

export type Kind = "text" | "number" | "boolean" | "null" | "list" | "object";

/** Children of one node that are shown at once; further ones on demand. */
export const pageSize = 100;

/** What a kind is called, and its mark for those who do not see its colour. */
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

/** From one place to before another. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** What was opened and shown; everything else is as it is at first. */
export interface TreeState {
  /** Ids of nodes that somebody opened or closed. */
  readonly turned: ReadonlyMap<string, boolean>;
  /** Which children of a node are shown, where not the first hundred. */
  readonly ranges: ReadonlyMap<string, Range>;
  /** Ids of texts that are shown whole. */
  readonly whole: ReadonlySet<string>;
}

export const firstState: TreeState = { turned: new Map(), ranges: new Map(), whole: new Set() };

export interface TreeOptions {
  /** The root's properties in groups, where it is an object. */
  readonly groups?: Groups | undefined;
  /** Levels that are open at first, from 1. */
  readonly open?: number;
}

interface Placed {
  /** JSON pointer; of what is no value a word that begins with no slash. */
  readonly id: string;
  /** The node above; "" is the root, which is not shown. */
  readonly parent: string;
  /** From 1. */
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
}

/** A line of the tree as it is shown. */
export type TreeRow =
  | (Placed & {
      readonly is: "value";
      readonly path: Path;
      readonly name: string;
      readonly value: Json;
      readonly kind: Kind;
      /** Undefined where nothing can be opened. */
      readonly isOpen: boolean | undefined;
      /** Children of a branch, characters of a text. */
      readonly size: number;
      /** False for a text of which only the beginning is shown. */
      readonly isWhole: boolean;
    })
  | (Placed & {
      readonly is: "group";
      readonly title: string;
      readonly size: number;
      readonly isOpen: boolean;
      /** What is in it, while it is closed. */
      readonly summary: string;
    })
  | (Placed & {
      readonly is: "more";
      /** Those before what is shown, or those after it. */
      readonly side: Side;
      /** How many there are on that side. */
      readonly left: number;
      readonly total: number;
    });

type Side = "before" | "after";

/** A key of an object, or a place in a list. */
type Step = string | number;

const stepsIn = (value: Json): readonly Step[] => {
  if (Array.isArray(value)) return Array.from(value, (_, i) => i);
  return isBranch(value) ? Object.keys(value) : [];
};

const childOf = (value: Json, step: Step): Json => {
  if (Array.isArray(value)) return value[Number(step)] ?? null;
  return isBranch(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null;
};

/** How many children it has, or characters. */
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

/** The children of a node, as many as are shown. */
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

function addValue(walk: Walk, parent: Json, steps: readonly Step[], i: number, above: Above): void {
  const step = steps[i] ?? "";
  const value = childOf(parent, step);
  const id = above.pointer + pointerStep(step);
  const level = above.level + 1;
  const path = [...above.path, step];
  const size = sizeOf(value);
  const isOpen = isBranch(value) && size > 0 ? isOpenAt(walk, id, level) : undefined;
  walk.rows.push({
    is: "value",
    id,
    parent: above.id,
    level,
    position: i + 1,
    siblings: steps.length,
    path,
    name: String(step),
    value,
    kind: kindOf(value),
    isOpen,
    size,
    isWhole: isShort(value) || walk.state.whole.has(id),
  });
  if (isOpen) addChildren(walk, value, stepsIn(value), { id, pointer: id, path, level });
}

const isOpenAt = ({ state, open }: Walk, id: string, level: number): boolean =>
  state.turned.get(id) ?? level < open;

/** The steps into an object by group; groups without any are left out. */
function membersOf(value: Json, groups: Groups): { group: Group; steps: Step[] }[] {
  const parts = groups.map((group) => ({ group, steps: [] as Step[] }));
  for (const step of stepsIn(value))
    parts[groupPlace(groups, String(step), childOf(value, step))]?.steps.push(step);
  return parts.filter((it) => it.steps.length > 0);
}

/** Members and characters of a value that stand in the summary of a closed group. */
const [summarized, longestValue] = [4, 40];

const wordOf = (value: Json): string =>
  isBranch(value)
    ? ""
    : visible(cutText(String(value), longestValue)) + (sizeOf(value) > longestValue ? "…" : "");

/** Names and values of the first few; of nulls the names. */
function summaryOf(value: Json, steps: readonly Step[]): string {
  const words = steps.slice(0, summarized).map((step) => {
    const child = childOf(value, step);
    const name = visible(cutText(String(step), longestValue)).replace(/^\$/, "");
    return child === null ? name : `${name} ${wordOf(child)}`.trim();
  });
  return words.join(" · ") + (steps.length > summarized ? " …" : "");
}

function addGroups(walk: Walk, value: Json, groups: Groups): void {
  const parts = membersOf(value, groups);
  // where there is nothing of the app's, what comes first is what there is to see
  const isAnyOpen = parts.some(({ group }) => group.isOpen);
  for (const [i, { group, steps }] of parts.entries()) {
    const isOpen = walk.state.turned.get(group.id) ?? (group.isOpen || (i === 0 && !isAnyOpen));
    const place = { id: group.id, parent: "", level: 1, position: i + 1, siblings: parts.length };
    const summary = isOpen ? "" : summaryOf(value, steps);
    walk.rows.push({ ...place, is: "group", title: group.title, size: steps.length, isOpen, summary });
    if (isOpen) addChildren(walk, value, steps, { id: group.id, pointer: "", path: [], level: 1 });
  }
}

/** The groups of the root, where it has any. */
const groupsFor = (root: Json, { groups }: TreeOptions): Groups | undefined =>
  kindOf(root) === "object" ? groups : undefined;

/** The lines to show, from top to bottom. The root itself has none; a root that is no branch is one nameless line. */
export function rowsOf(value: Json, state: TreeState, options: TreeOptions = {}): TreeRow[] {
  const groups = groupsFor(value, options);
  const walk: Walk = { rows: [], state, open: (options.open ?? 1) + (groups ? 1 : 0) };
  if (groups) addGroups(walk, value, groups);
  else if (isBranch(value))
    addChildren(walk, value, stepsIn(value), { id: "", pointer: "", path: [], level: 0 });
  else walk.rows.push(rootRow(value, state));
  return walk.rows;
}

const rootRow = (value: Json, state: TreeState): TreeRow => ({
  is: "value",
  id: "/",
  parent: "",
  level: 1,
  position: 1,
  siblings: 1,
  path: [],
  name: "",
  value,
  kind: kindOf(value),
  isOpen: undefined,
  size: sizeOf(value),
  isWhole: isShort(value) || state.whole.has("/"),
});

const withEntry = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(key, value);

/** Opens or closes a node. */
export const turn = (state: TreeState, id: string, isOpen: boolean): TreeState => ({
  ...state,
  turned: withEntry(state.turned, id, isOpen),
});

/** Shows a hundred more of a node's children. */
export function showMore(state: TreeState, id: string, side: Side = "after"): TreeState {
  const { from, to } = rangeOf(state, id);
  const range = side === "after" ? { from, to: to + pageSize } : { from: Math.max(0, from - pageSize), to };
  return { ...state, ranges: withEntry(state.ranges, id, range) };
}

/** Shows a text whole. */
export const showWhole = (state: TreeState, id: string): TreeState => ({
  ...state,
  whole: new Set(state.whole).add(id),
});

const shorthand = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** A place as a JSON path, RFC 9535: `$.items[0]["my key"]`. */
export const jsonPath = (path: Path): string =>
  `$${path
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return shorthand.test(step) ? `.${step}` : `[${jsonText(step)}]`;
    })
    .join("")}`;

/** What a search found. */
export interface Found {
  /** The places, in order, as ids of rows. */
  readonly hits: readonly Hit[];
  /** There may be more: the search was stopped. */
  readonly isCut: boolean;
}

export interface Hit {
  readonly id: string;
  readonly path: Path;
  /** Place among its siblings, by level: what must be shown for it to be seen. */
  readonly places: readonly number[];
  /** Id of the group that it is in; "" where there are none. */
  readonly group: string;
}

const mostHits = 1_000;

interface Node extends Hit {
  readonly value: Json;
}

/** Texts as they are, the rest as JSON writes it. */
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

/** The root's children in the order in which they are shown. */
const groupedChildren = (root: Node, groups: Groups): Node[] =>
  membersOf(root.value, groups).flatMap(({ group, steps }) =>
    steps.map((step, i) => childAt(root, step, i, group.id)),
  );

/** Where a text stands, in keys and in values; case does not count. Nothing is found for an empty text. */
export function searchIn(root: Json, text: string, options: TreeOptions = {}): Found {
  const finder = finderOf(text);
  const hits: Hit[] = [];
  if (finder === undefined) return { hits, isCut: false };
  const groups = groupsFor(root, options);
  // A stack of its own: payloads may be nested deeper than calls should be.
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

/** More children than this are not drawn for a search: then only the hit's own hundred is. */
const mostDrawn = 500;

/** What was shown and the hundred that the place is in; only these where that would be too many. */
function rangeWith({ from, to }: Range, place: number): Range {
  if (place >= from && place < to) return { from, to };
  const start = Math.floor(place / pageSize) * pageSize;
  const both = { from: Math.min(from, start), to: Math.max(to, start + pageSize) };
  return both.to - both.from <= mostDrawn ? both : { from: start, to: start + pageSize };
}

/** Opens all that is above a hit, and shows its neighbours. */
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

/** The state in which the first hits can be seen, the very first in any case. */
export const revealAll = (state: TreeState, found: Found, most = 50): TreeState =>
  found.hits.slice(0, most).reverse().reduce(reveal, state);

/** What a key does in a tree: the row to go to, or a node to open or close. */
export type Move = { readonly go: number } | { readonly turn: string; readonly isOpen: boolean };

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

/** The keys of a tree, as the ARIA practices have them; undefined where a key means nothing here. */
export const stepFor = (rows: readonly TreeRow[], at: number, key: string): Move | undefined =>
  Object.hasOwn(moves, key) && rows.length > 0 ? moves[key]?.(rows, at) : undefined;
