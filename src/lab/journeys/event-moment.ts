import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { type EventKind, eventKind } from "../../state/journal/event-kinds.ts";
import { clickedText, vitalsIn, vitalText } from "../../state/journal/event-texts.ts";
import { exceptionHead } from "../../state/journal/exception.ts";
import type { JourneyMoment } from "./shapes.ts";

/** Characters of a name, of a text and of an id. */
const longest = 200;

export const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

const scalar = (value: Json | undefined): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

const firstOf = (properties: JsonObject, ...names: readonly string[]): string => {
  for (const name of names) {
    const text = Object.hasOwn(properties, name) ? scalar(properties[name]) : "";
    if (text !== "") return text;
  }
  return "";
};

function pathIn(address: string): string {
  if (address.length > 2_000 || !URL.canParse(address)) return address;
  const { pathname, protocol } = new URL(address);
  return protocol === "http:" || protocol === "https:" ? pathname : address;
}

const exceptionText = (properties: JsonObject): string => {
  const { type, message } = exceptionHead(properties);
  return [type, message].filter((it) => it !== "").join(": ");
};

const weakVitals = (properties: JsonObject): string =>
  vitalsIn(properties)
    .flatMap(({ vital, value }) => (value > vital.good ? [`${vital.name} ${vitalText(value, vital)}`] : []))
    .join(", ");

const flagText = (properties: JsonObject): string =>
  `${firstOf(properties, "$feature_flag")} = ${firstOf(properties, "$feature_flag_response") || "no value"}`;

interface Row {
  readonly lane: JourneyMoment["lane"];
  readonly text?: (properties: JsonObject) => string;
}

const rows: Readonly<Record<EventKind, Row>> = {
  own: { lane: "own" },
  ai: { lane: "own" },
  survey: { lane: "own" },
  exception: { lane: "problem", text: exceptionText },
  vitals: { lane: "other", text: weakVitals },
  click: { lane: "click", text: clickedText },
  page: {
    lane: "page",
    text: (it) => firstOf(it, "$pathname") || pathIn(firstOf(it, "$current_url")) || firstOf(it, "$screen_name"),
  },
  person: { lane: "identity" },
  group: { lane: "identity", text: (it) => `${firstOf(it, "$group_type")} ${firstOf(it, "$group_key")}` },
  flag: { lane: "flag", text: flagText },
  heatmap: { lane: "other" },
  recording: { lane: "other" },
  sdk: { lane: "other" },
};

/** Clocks of phones and laptops differ less, ms. */
const tolerated = 3_600_000;
const earliest = Date.UTC(2000, 0, 1);

/** The place of an event in time: its arrival if its own time cannot be right. */
function placedAt({ timestamp, received_at: receivedAt, warnings }: StoredEvent): Pick<JourneyMoment, "at" | "clock"> {
  const [own, received] = [Date.parse(timestamp), Date.parse(receivedAt)];
  if (own > received + tolerated || warnings.includes("timestamp_in_the_future"))
    return { at: receivedAt, clock: "ahead" };
  if (!(own >= earliest)) return { at: receivedAt, clock: "behind" };
  return { at: timestamp, clock: null };
}

export function momentOfEvent(event: StoredEvent): JourneyMoment {
  const { properties, warnings, outcome } = event;
  const kind = eventKind(event.event);
  const row = rows[kind];
  const text = shortened(row.text?.(properties) ?? "");
  const session = Object.hasOwn(properties, "$session_id") ? properties.$session_id : undefined;
  return {
    lane: kind === "vitals" && text !== "" ? "problem" : row.lane,
    ...placedAt(event),
    seq: event.seq,
    request: event.request,
    name: shortened(event.event),
    text,
    session: typeof session === "string" && session !== "" ? shortened(session) : null,
    distinct_id: shortened(event.distinct_id),
    outcome: outcome === "kept" && warnings.length > 0 ? "warned" : outcome,
    reason: event.reason ?? warnings[0] ?? null,
    status: null,
    events: null,
  };
}
