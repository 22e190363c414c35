import { signal } from "@preact/signals";
import { columnLimits } from "../../../src/state/journal/feed/column-limits.ts";
import { scan } from "../../../src/state/journal/filter/scan.ts";
import { keep, kept } from "../../parts/browser-storage.ts";

/** A column of the list; those of properties are named `prop.NAME`. */
export interface Column {
  readonly id: string;
  readonly title: string;
  /** Usual width, px; 0: what is left. */
  readonly width: number;
}

const least = 40;
const widest = 1_000;

const leading: readonly Column[] = [
  { id: "at", title: "Arrived", width: 96 },
  { id: "outcome", title: "Outcome", width: 16 },
  { id: "event", title: "Event", width: 184 },
  { id: "preview", title: "Own properties, or the reason", width: 0 },
];

/** Columns that can be hidden; in a narrow list they give way in this order. */
export const optional: readonly Column[] = [
  { id: "lib", title: "SDK", width: 56 },
  { id: "path", title: "URL", width: 104 },
  { id: "project", title: "Project", width: 104 },
  { id: "id", title: "Distinct id", width: 120 },
];

/** Columns in the order of the list. */
const order = ["path", "lib", "id", "project"];

const propPrefix = "prop.";
const propertyWidth = 112;
/** Room for the preview, and between columns, px. */
const previewLeast = 96;
const gap = 8;
const padding = 24;
/** Below this width, rows have two lines. */
const twoLines = 480;

interface Choice {
  /** Ids of the optional and property columns that are shown. */
  readonly shown: readonly string[];
  /** Widths that were set, px. */
  readonly widths: Readonly<Record<string, number>>;
}

const storage = "phx-sim-event-columns";
export const usualChoice: Choice = { shown: ["path", "lib"], widths: {} };

export const isProperty = (id: string): boolean => id.startsWith(propPrefix);
export const propertyOf = (id: string): string => id.slice(propPrefix.length);

const isShowable = (id: unknown): id is string =>
  typeof id === "string" &&
  (optional.some((it) => it.id === id) ||
    (isProperty(id) && id.length > propPrefix.length && propertyOf(id).length <= columnLimits.name));

const within = (width: number): number => Math.round(Math.min(widest, Math.max(least, width)));

/** A stored choice; what cannot be read is left out. */
export function readChoice(text: string | null): Choice {
  try {
    const { shown, widths }: Partial<Record<keyof Choice, unknown>> = JSON.parse(text ?? "");
    if (!Array.isArray(shown)) return usualChoice;
    const entries = Object.entries(widths ?? {}).filter(([, width]) => Number.isFinite(width));
    return {
      shown: [...new Set(shown.filter(isShowable))].slice(0, columnLimits.columns),
      widths: Object.fromEntries(entries.slice(0, 50).map(([id, width]) => [id, within(width)])),
    };
  } catch {
    return usualChoice;
  }
}

export const choice = signal<Choice>(readChoice(kept(storage)));

function choose(next: Choice): void {
  choice.value = next;
  keep(storage, JSON.stringify(next));
}

export const resetColumns = (): void => choose(usualChoice);

export function toggleColumn(id: string): void {
  const { shown, widths } = choice.value;
  if (shown.includes(id)) choose({ shown: shown.filter((it) => it !== id), widths });
  else if (isShowable(id) && shown.length < columnLimits.columns) choose({ shown: [...shown, id], widths });
}

export const addProperty = (name: string): void => {
  const id = propPrefix + name.trim().replace(/^prop(?:erties)?\./, "");
  if (!choice.value.shown.includes(id)) toggleColumn(id);
};

/** Sets the width of a column, px; undefined: the usual one. */
export function resizeColumn(id: string, width: number | undefined): void {
  const { shown, widths } = choice.value;
  const { [id]: _, ...others } = widths;
  choose({ shown, widths: width === undefined ? others : { ...others, [id]: within(width) } });
}

/** Names of the properties that a filter compares. */
export function propertiesIn(filter: string): string[] {
  const names = scan(filter).tokens.flatMap((token) => {
    if (token.kind !== "term") return [];
    const [first = "", ...path] = token.term.name.path;
    return ["prop", "properties"].includes(first) && path.length > 0 ? [path.join(".")] : [];
  });
  return [...new Set(names)].filter((it) => it.length <= columnLimits.name);
}

/** Properties of which rows need values: those of the filter first. */
export const wantedProperties = (filter: string, { shown }: Choice): string[] =>
  [...new Set([...propertiesIn(filter), ...shown.filter(isProperty).map(propertyOf)])]
    .filter((it) => !it.includes(","))
    .slice(0, columnLimits.columns);

/** The columns of a list, and their widths. */
export interface ColumnLayout {
  readonly columns: readonly Column[];
  /** The value of `grid-template-columns`. */
  readonly template: string;
  /** True if rows have two lines. */
  readonly isTwoLines: boolean;
}

/** The columns that a list of this width has room for. */
export function layoutFor(width: number, { shown, widths }: Choice): ColumnLayout {
  if (width < twoLines) {
    const [at, outcome, event] = leading;
    const columns = [at, outcome, event].filter((it) => it !== undefined);
    return { columns, template: "5.9rem 1rem minmax(0, 1fr)", isTwoLines: true };
  }
  const widthOf = ({ id, width: usual }: Column) => widths[id] ?? usual;
  const place = ({ id }: Column) => (order.includes(id) ? order.indexOf(id) : order.length);
  let more: readonly Column[] = shown
    .map((id) => optional.find((it) => it.id === id) ?? { id, title: propertyOf(id), width: propertyWidth })
    .toSorted((a, b) => place(a) - place(b));
  const room = () =>
    [...leading, ...more].reduce(
      (sum, it) => sum + Math.max(widthOf(it), it.width === 0 ? previewLeast : 0) + gap,
      padding,
    );
  const rank = ({ id }: Column) => {
    const at = optional.findIndex((it) => it.id === id);
    return at === -1 ? optional.length : at;
  };
  while (more.length > 0 && room() > width) {
    const first = more.toSorted((a, b) => rank(a) - rank(b))[0];
    more = more.filter((it) => it !== first);
  }
  const columns = [...leading, ...more];
  const template = columns
    .map((it) => (it.width === 0 ? `minmax(${previewLeast}px, 1fr)` : `${widthOf(it)}px`))
    .join(" ");
  return { columns, template, isTwoLines: false };
}
