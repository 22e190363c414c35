import { isObject, type JsonObject } from "../../kernel/base/json.ts";

/** The numbers of rrweb's format that are read here (@posthog/rrweb-types, EventType). */
export const recordedTypes = { domLoaded: 0, load: 1, full: 2, incremental: 3, meta: 4, custom: 5, plugin: 6 } as const;

export const recordedSources = {
  mutation: 0,
  mouseMove: 1,
  mouse: 2,
  scroll: 3,
  resize: 4,
  input: 5,
  touchMove: 6,
  media: 7,
  styleRule: 8,
  canvas: 9,
  font: 10,
  log: 11,
  styleDeclaration: 13,
  drag: 12,
  selection: 14,
  adoptedStyles: 15,
  customElement: 16,
} as const;

/** MouseInteractions: what the hand did. */
export const recordedClicks: readonly number[] = [2, 4, 7];

export interface RecordedEvent {
  readonly type: number;
  /** ms since 1970, by the clock of the browser. */
  readonly timestamp: number;
  readonly data: JsonObject;
}

/** How the parts of a recording are counted, by what their events hold. */
export const recordedKinds = ["full", "mutation", "mouse", "input", "scroll", "style", "network", "other"] as const;
export type RecordedKind = (typeof recordedKinds)[number];

const bySource: Readonly<Record<number, RecordedKind>> = {
  [recordedSources.mutation]: "mutation",
  [recordedSources.mouseMove]: "mouse",
  [recordedSources.mouse]: "mouse",
  [recordedSources.touchMove]: "mouse",
  [recordedSources.drag]: "mouse",
  [recordedSources.scroll]: "scroll",
  [recordedSources.input]: "input",
  [recordedSources.styleRule]: "style",
  [recordedSources.adoptedStyles]: "style",
};

/** Needs no decompression: type and source are always in clear. */
export function recordedKind({ type, data }: { type?: unknown; data?: unknown }): RecordedKind {
  if (type === recordedTypes.full) return "full";
  if (!isObject(data)) return "other";
  if (type === recordedTypes.plugin) {
    return typeof data.plugin === "string" && data.plugin.includes("network") ? "network" : "other";
  }
  if (type !== recordedTypes.incremental || typeof data.source !== "number") return "other";
  return bySource[data.source] ?? "other";
}

const activeSources: ReadonlySet<unknown> = new Set([
  recordedSources.mouseMove,
  recordedSources.mouse,
  recordedSources.scroll,
  recordedSources.resize,
  recordedSources.input,
  recordedSources.touchMove,
  recordedSources.drag,
]);

/** True if the person did something: time without such events is idle. */
export const isActivity = ({ type, data }: Pick<RecordedEvent, "type" | "data">): boolean =>
  type === recordedTypes.incremental && activeSources.has(data.source);

export const lossReasons = {
  bad_gzip: "the compressed bytes are damaged",
  bad_json: "the decompressed text is not JSON",
  too_large: "it decompresses to more than the limit: 32 MB, or 1,000,000 objects and lists",
  too_deep: "it is nested too deep",
  not_an_event: "it is not an event of rrweb: type, timestamp or data is missing",
  no_page: "the full snapshot of its page has not arrived",
  not_kept: "the body of the request was not kept",
  not_listed: "the session, or all of them, have more parts than are listed: 2,000 and 300,000",
  not_searched: "a search reads 256 MB, and there is more",
  forgotten: "only the newest 2,000 sessions are listed",
} as const;
export type LossReason = keyof typeof lossReasons;

export const recordedPlaces = [
  "page",
  "text",
  "attribute",
  "style",
  "input",
  "network",
  "console",
  "custom",
  "other",
] as const;
export type RecordedPlace = (typeof recordedPlaces)[number];

/** What a recording holds that cannot be read as text. */
export const unreadables = {
  canvas: "drawing on a canvas",
  image: "picture as data",
  screenshot: "screenshot of a mobile app",
  unknown: "record of an unknown kind",
  frame: "frame whose page is not recorded",
  font: "font",
} as const;
export type Unreadable = keyof typeof unreadables;
export const unreadableNames = Object.keys(unreadables) as [Unreadable, ...Unreadable[]];

/** The page of a frame of another origin is not in the recording, and a font shows nothing by itself: neither holds a value. */
export const undecidable = ["canvas", "image", "screenshot", "unknown"] as const satisfies Unreadable[];

export const writings = ["text", "digits", "encoded"] as const;
export type ValueWriting = (typeof writings)[number];
