import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { eventKind } from "../event-kinds.ts";
import { clickedText, vitalsIn, vitalText } from "../event-texts.ts";
import { exceptionHead } from "../exception.ts";
import { valuesAt } from "../filter/values.ts";
import { isSdkProperty } from "../sdk-properties.ts";

type PreviewPart = readonly [label: string, value: string];

export interface EventPreview {
  readonly preview: readonly PreviewPart[];
  readonly path: string;
  readonly lib: string;
  readonly session: string | null;
}

const most = {
  characters: 120,
  parts: 6,
  label: 40,
  value: 60,
  path: 100,
  lib: 24,
  session: 200,
  column: 100,
} as const;
/** Properties that are examined: an event may have thousands. */
const examined = 100;

type Properties = Readonly<JsonObject>;
type Preview = (properties: Properties) => readonly (PreviewPart | undefined)[];

/** The first characters on one line; a pair of surrogates is not split. */
function cut(text: string, length: number): string {
  const start = text
    .slice(0, 4 * length)
    .replace(/\s+/g, " ")
    .trim();
  if (start.length <= length && text.length <= 4 * length) return start;
  return `${start.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

function shortText(value: Json | undefined, length: number = most.value): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) {
    const isPlain = value.length <= 3 && value.every((it) => typeof it !== "object");
    return isPlain ? cut(value.map((it) => shortText(it, length)).join(", "), length) : `[${value.length}]`;
  }
  if (isObject(value)) return Object.keys(value).length === 0 ? "{}" : "{…}";
  return typeof value === "string" ? cut(value, length) : String(value);
}

function firstText(properties: Properties, ...names: readonly string[]): string {
  for (const name of names) {
    const text = shortText(own(properties, name));
    if (text !== "" && text !== "null") return text;
  }
  return "";
}

const alone = (text: string): PreviewPart | undefined => (text === "" ? undefined : ["", text]);
const named = (label: string, text: string): PreviewPart | undefined => (text === "" ? undefined : [label, text]);

const seconds = (value: Json | undefined): string =>
  typeof value === "number" && Number.isFinite(value) ? `${value.toFixed(2)} s` : "";

/** Members of an object, as far as they are examined. */
function* membersOf(value: Json | undefined): Generator<readonly [name: string, value: Json]> {
  if (!isObject(value)) return;
  let left = examined;
  for (const name in value) {
    if (left-- === 0) return;
    const member = own(value, name);
    if (member !== undefined) yield [name, member];
  }
}

function partsOf(value: Json | undefined, isShown: (name: string) => boolean = () => true): PreviewPart[] {
  const parts: PreviewPart[] = [];
  for (const [name, member] of membersOf(value)) {
    if (isShown(name)) parts.push([cut(name, most.label), shortText(member)]);
    if (parts.length === most.parts) break;
  }
  return parts;
}

const ownParts: Preview = (properties) => partsOf(properties as JsonObject, (name) => !isSdkProperty(name));

function exceptionParts(properties: Properties): PreviewPart[] {
  const { type, message } = exceptionHead(properties);
  return [[shortText(type) || "Error", shortText(message, most.characters)]];
}

/** The tag of the element that was used: of the list of elements, or of the chain's start. */
function tagOf(properties: Properties): string {
  const elements = own(properties, "$elements");
  const [first] = Array.isArray(elements) ? elements : [];
  const tag = isObject(first) ? first.tag_name : undefined;
  if (typeof tag === "string") return cut(tag, most.label);
  const chain = own(properties, "$elements_chain");
  return typeof chain === "string" ? (/^[a-z][a-z0-9-]{0,30}/i.exec(chain)?.[0] ?? "") : "";
}

function clickParts(properties: Properties): (PreviewPart | undefined)[] {
  const text = shortText(clickedText(properties));
  const what = [text === "" ? "" : `“${text}”`, tagOf(properties)].filter((it) => it !== "").join(" ");
  return [named(firstText(properties, "$event_type") || "click", what)];
}

const vitalParts: Preview = (properties) =>
  vitalsIn(properties).map(({ vital, value }) => [vital.name, vitalText(value, vital)]);

function aiParts(properties: Properties): (PreviewPart | undefined)[] {
  const input = own(properties, "$ai_input_tokens");
  const output = own(properties, "$ai_output_tokens");
  const tokens = [input, output].filter((it) => typeof it === "number").join(" → ");
  return [
    alone(firstText(properties, "$ai_model", "$ai_span_name", "$ai_trace_name", "$ai_metric_name")),
    named("tokens", tokens),
    named("is", firstText(properties, "$ai_metric_value", "$ai_feedback_text")),
    alone(seconds(own(properties, "$ai_latency"))),
    named("error", firstText(properties, "$ai_error")),
  ];
}

function pageParts(properties: Properties): (PreviewPart | undefined)[] {
  const title = firstText(properties, "$screen_name", "title", "$title");
  return [alone(title || pathOf(properties)), ...ownParts(properties).filter((it) => it?.[0] !== "title")];
}

function surveyParts(properties: Properties): (PreviewPart | undefined)[] {
  const answers = partsOf(properties as JsonObject, (name) => /^\$survey_response(?:_|$)/.test(name));
  return [alone(firstText(properties, "$survey_name")), ...answers.map(([, value]) => named("answer", value))];
}

const flagParts: Preview = (properties) => [
  named(
    `${firstText(properties, "$feature_flag", "feature_flag")} =`,
    firstText(properties, "$feature_flag_response") || "null",
  ),
];

const personParts: Preview = (properties) => [
  named("from", firstText(properties, "$anon_distinct_id", "alias")),
  ...partsOf(own(properties, "$set")),
  ...partsOf(own(properties, "$set_once")),
  ...ownParts(properties).filter((it) => it?.[0] !== "alias"),
];

const groupParts: Preview = (properties) => [
  named(firstText(properties, "$group_type") || "group", firstText(properties, "$group_key")),
  ...partsOf(own(properties, "$group_set")),
];

const sizeOf = (value: Json | undefined): number => {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
};

/** By kind of event (default: its own properties). */
const previews: Readonly<Record<string, Preview>> = {
  exception: exceptionParts,
  click: clickParts,
  vitals: vitalParts,
  ai: aiParts,
  page: pageParts,
  survey: surveyParts,
  flag: flagParts,
  person: personParts,
  group: groupParts,
  heatmap: (properties) => [named("addresses", String(sizeOf(own(properties, "$heatmap_data"))))],
  recording: (properties) => [named("snapshots", String(sizeOf(own(properties, "$snapshot_items"))))],
};

/** As many parts as fit. */
function fitting(parts: readonly (PreviewPart | undefined)[]): PreviewPart[] {
  const kept: PreviewPart[] = [];
  let left: number = most.characters;
  for (const part of parts) {
    if (part === undefined) continue;
    if (left <= 0 || kept.length === most.parts) break;
    const label = cut(part[0], most.label);
    const value = cut(part[1], Math.max(8, Math.min(most.characters, left)));
    left -= label.length + value.length;
    kept.push([label, value]);
  }
  return kept;
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

function pathOf(properties: Properties): string {
  const url = own(properties, "$current_url");
  if (typeof url === "string" && origin.test(url.slice(0, 300))) {
    const path = url.slice(0, 1_000).replace(origin, "").split(/[?#]/, 1)[0] ?? "";
    return cut(path === "" ? "/" : path, most.path);
  }
  return cut(firstText(properties, "$pathname", "$screen_name"), most.path);
}

export function previewOf(event: string, properties: Properties): EventPreview {
  const session = own(properties, "$session_id");
  const parts = Object.hasOwn(previews, eventKind(event)) ? previews[eventKind(event)] : undefined;
  return {
    preview: fitting((parts ?? ownParts)(properties)),
    path: pathOf(properties),
    lib: cut(firstText(properties, "$lib").replace(/^posthog-/, ""), most.lib),
    session: typeof session === "string" && session !== "" ? cut(session, most.session) : null,
  };
}

/** Values of the asked properties: a name, or a path with dots; null: the event does not have it. */
export const columnValues = (properties: Properties, columns: readonly string[]): (string | null)[] =>
  columns.map((name) => {
    const found = own(properties, name) ?? valuesAt(properties, name.split("."));
    const value = Array.isArray(found) && found.length === 1 ? found[0] : found;
    return value === undefined ? null : shortText(value, most.column);
  });
