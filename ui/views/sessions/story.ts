import { isObject, type Json, textOf } from "../../../src/kernel/base/json.ts";
import {
  isActivity,
  type RecordedEvent,
  recordedClicks,
  recordedSources,
  recordedTypes,
} from "../../../src/lab/sessions/rrweb.ts";
import type { SessionEvent } from "../../../src/lab/sessions/shapes.ts";
import { type EventKind, eventKind } from "../../../src/state/journal/event-kinds.ts";
import { createLabels } from "./labels.ts";

/** The recorded events of one window (a tab of the browser), in order. */
export interface RecordedWindow {
  readonly id: string;
  readonly events: readonly RecordedEvent[];
  /** The journal's time minus the browser's. */
  readonly shift: number;
}

/** Something that happened; `at` is ms from the start of the session. */
export interface Moment {
  readonly at: number;
  readonly kind: EventKind | "input";
  /** Before the name: `opened`, `click`, `typed in`. */
  readonly verb: string;
  readonly name: string;
  readonly text: string;
  /** What was typed, if it was masked by the SDK. */
  readonly isMasked: boolean;
  readonly isProblem: boolean;
  readonly event: SessionEvent | undefined;
}

interface PageSpan {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  readonly url: string;
  readonly title: string;
}

interface Idle {
  readonly from: number;
  readonly to: number;
}

/** What the lanes and the transcript show. */
export interface Story {
  /** ms. */
  readonly length: number;
  readonly moments: readonly Moment[];
  readonly pages: readonly PageSpan[];
  readonly idle: readonly Idle[];
}

/** Longer times without activity are idle, ms; the player skips them. */
const idleAfter = 10_000;
/** The most moments that are listed. */
const mostMoments = 5_000;

/** `/basket?x=1` of a URL; anything else as it is. */
export function pathOf(url: string): string {
  if (!URL.canParse(url)) return url.slice(0, 200);
  const { pathname, hash, protocol } = new URL(url);
  return /^https?:$/.test(protocol)
    ? (pathname + (hash.startsWith("#/") ? hash : "")).slice(0, 200)
    : url.slice(0, 200);
}

interface Visit {
  readonly at: number;
  readonly url: string;
  readonly title: string;
}

/** The address that a recorded event says the window has. */
function addressIn({ type, data }: RecordedEvent): string {
  if (type === recordedTypes.meta) return textOf(data.href);
  if (type !== recordedTypes.custom) return "";
  return isObject(data.payload) ? textOf(data.payload.href) : "";
}

/** Pages one after another: equal addresses in a row are one. */
function pagesOf(visits: readonly Visit[], length: number): PageSpan[] {
  const pages: (PageSpan & { to: number })[] = [];
  for (const { at, url, title } of visits.toSorted((a, b) => a.at - b.at)) {
    const last = pages.at(-1);
    const path = pathOf(url);
    if (last?.path === path) {
      if (last.title === "" && title !== "") pages[pages.length - 1] = { ...last, title };
      continue;
    }
    if (last) last.to = at;
    pages.push({ from: Math.max(0, at), to: length, path, url, title });
  }
  return pages;
}

const isHidden = (value: string): boolean => value !== "" && /^[*•]+$/.test(value);

const plainMoment = { text: "", isMasked: false, isProblem: false, event: undefined } as const;

/** Clicks and inputs of a window. Changes of one field in a row are one moment. */
function actionsOf({ events, shift }: RecordedWindow, start: number): Moment[] {
  const labels = createLabels();
  const moments: Moment[] = [];
  let field: Json | undefined;
  for (const event of events) {
    labels.read(event);
    const { type, data } = event;
    if (type !== recordedTypes.incremental) continue;
    const at = event.timestamp + shift - start;
    if (data.source === recordedSources.mouse && recordedClicks.includes(Number(data.type))) {
      field = undefined;
      const verb = data.type === 4 ? "double click" : "click";
      moments.push({ ...plainMoment, at, kind: "click", verb, name: labels.nameOf(data.id) });
    }
    if (data.source !== recordedSources.input || data.userTriggered === false) continue;
    const typed = textOf(data.text);
    const name = labels.nameOf(data.id);
    const isSwitch = /^(?:on|true|false)$/.test(typed) || (typed === "" && data.isChecked === true);
    const verb = isSwitch ? (data.isChecked === true ? "chose" : "changed") : "typed in";
    const isMasked = !isSwitch && isHidden(typed);
    const text = isSwitch ? "" : isMasked ? "•".repeat(Math.min(8, typed.length)) : typed.slice(0, 80);
    if (field === data.id && field !== undefined) moments.pop();
    field = data.id;
    moments.push({ ...plainMoment, at, kind: "input", verb, name, text, isMasked });
  }
  return moments;
}

/** Events that other moments stand for. */
const listedOtherwise = new Set(["$pageview", "$pageleave", "$snapshot", "$snapshot_items"]);

function momentOf(event: SessionEvent, start: number): Moment {
  const kind = eventKind(event.event);
  const isClick = event.event === "$autocapture" && event.text !== "";
  const verbs: Partial<Record<EventKind, string>> = {
    flag: "flag",
    person: "person",
    ...(isClick && { click: "click" }),
  };
  const [name, text] =
    kind === "exception"
      ? [event.text.split(": ")[0] || "Exception", event.text.split(": ").slice(1).join(": ")]
      : isClick || kind === "flag"
        ? [event.text || event.event, ""]
        : [event.event, event.text];
  return {
    at: Date.parse(event.timestamp) - start,
    kind,
    verb: kind === "flag" && event.text === "" ? "" : kind === "person" ? "" : (verbs[kind] ?? ""),
    name,
    text,
    isMasked: false,
    isProblem: kind === "exception" || event.outcome === "dropped" || event.warnings.length > 0,
    event,
  };
}

const pageMoment = ({ from, path, title }: PageSpan): Moment => ({
  ...plainMoment,
  at: from,
  kind: "page",
  verb: "opened",
  name: path,
  text: title === "" ? "" : `“${title}”`,
});

/** Times without activity, if the window was recorded at all then. */
function idleOf(windows: readonly RecordedWindow[], start: number, length: number): Idle[] {
  const active = windows
    .flatMap(({ events, shift }) => events.filter(isActivity).map((it) => it.timestamp + shift - start))
    .sort((a, b) => a - b);
  if (windows.every((it) => it.events.length === 0)) return [];
  const idle: Idle[] = [];
  let last = 0;
  for (const at of [...active, length]) {
    if (at - last > idleAfter) idle.push({ from: last, to: Math.min(at, length) });
    last = Math.max(last, at);
  }
  return idle;
}

/** Kinds of events that carry the address of their own moment; web vitals keep that of the first page. */
const addressed: ReadonlySet<EventKind> = new Set(["page", "own", "click", "exception", "flag", "person"]);

/** All that happened in a session. @param start, end Its times, ms since 1970 */
export function storyOf(
  start: number,
  end: number,
  events: readonly SessionEvent[],
  windows: readonly RecordedWindow[],
): Story {
  const length = Math.max(1, end - start);
  const visits: Visit[] = [
    ...events.flatMap(({ timestamp, url, title, event }) =>
      url === null || event === "$pageleave" || !addressed.has(eventKind(event))
        ? []
        : [{ at: Date.parse(timestamp) - start, url, title: title ?? "" }],
    ),
    ...windows.flatMap(({ events: recorded, shift }) =>
      recorded.flatMap((it) => {
        const url = addressIn(it);
        return url === "" ? [] : [{ at: it.timestamp + shift - start, url, title: "" }];
      }),
    ),
  ];
  const pages = pagesOf(visits, length);
  const actions = windows.flatMap((it) => actionsOf(it, start));
  const hasClicks = actions.some((it) => it.kind === "click");
  const listed = events.filter(({ event }) => !listedOtherwise.has(event) && !(hasClicks && event === "$autocapture"));
  const moments = [...pages.map(pageMoment), ...actions, ...listed.map((it) => momentOf(it, start))]
    .sort((a, b) => a.at - b.at)
    .slice(0, mostMoments);
  return { length, moments, pages, idle: idleOf(windows, start, length) };
}

/** Index of the last moment that has begun; -1 before the first. */
export function momentAt(moments: readonly Moment[], at: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** 2:57.502; `isShort` without ms. */
export function offsetText(ms: number, isShort = false): string {
  const whole = Math.max(0, Math.round(ms));
  const [h, m, s] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, Math.floor(whole / 1000) % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  const rest = isShort ? "" : `.${String(whole % 1000).padStart(3, "0")}`;
  return `${h > 0 ? `${h}:${two(m)}` : m}:${two(s)}${rest}`;
}

/** Bytes of the parts over the session, in `count` steps; a part counts evenly between its first and last event. */
export function bytesOver(
  parts: readonly { readonly start: string; readonly end: string; readonly bytes: number }[],
  start: number,
  length: number,
  count: number,
): number[] {
  const steps = new Array<number>(count).fill(0);
  const stepOf = (at: number) => Math.max(0, Math.min(count - 1, Math.floor(((at - start) / length) * count)));
  for (const part of parts) {
    const [from, to] = [stepOf(Date.parse(part.start)), stepOf(Date.parse(part.end))];
    for (let i = from; i <= to; i++) steps[i] = (steps[i] ?? 0) + part.bytes / (to - from + 1);
  }
  return steps;
}
