import { type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import { eventKind } from "../../state/journal/event-kinds.ts";
import { clickedText, vitalsIn, vitalText } from "../../state/journal/event-texts.ts";
import { exceptionHead } from "../../state/journal/exception.ts";
import { isSdkProperty } from "../../state/journal/sdk-properties.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";

const longest = 160;

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

export const textOf = (value: Json | undefined): string | null =>
  typeof value === "string" && value !== "" ? cut(value) : null;

const shown = (value: Json): string | undefined =>
  typeof value === "object" ? undefined : cut(String(value)).slice(0, 60);

/** `items 3 · value 149.9`: the first properties of the app itself. */
const ownProperties = (properties: JsonObject): string =>
  Object.entries(properties)
    .flatMap(([name, value]) => {
      const text = isSdkProperty(name) ? undefined : shown(value);
      return text === undefined ? [] : [`${cut(name)} ${text}`];
    })
    .slice(0, 3)
    .join(" · ");

function elementText(properties: JsonObject): string {
  const text = clickedText(properties);
  if (text !== "") return cut(text);
  const chain = own(properties, "$elements_chain");
  const first = typeof chain === "string" ? chain.slice(0, 2_000) : "";
  const quoted = /(?:attr__aria-label|attr__name|attr__id)="([^"]{1,160})"/.exec(first)?.[1];
  return quoted ?? /^[\w-]{1,40}/.exec(first)?.[0] ?? "";
}

function exceptionText(properties: JsonObject): string {
  const { type, message } = exceptionHead(properties);
  return [type, message].flatMap((it) => textOf(it) ?? []).join(": ");
}

function flagText(properties: JsonObject): string {
  const value = own(properties, "$feature_flag_response");
  const key = textOf(own(properties, "$feature_flag"));
  return key === null ? "" : `${key} = ${value === undefined ? "" : (shown(value) ?? "…")}`;
}

const vitalsText = (properties: JsonObject): string =>
  vitalsIn(properties)
    .map(({ vital, value }) => `${vital.name} ${vitalText(value, vital)}`)
    .join(" · ");

/** What an event holds, in a few words; "" if its name says it all. */
export function previewOf({ event, properties }: Pick<StoredEvent, "event" | "properties">): string {
  switch (eventKind(event)) {
    case "click":
      return elementText(properties);
    case "exception":
      return exceptionText(properties);
    case "flag":
      return flagText(properties);
    case "vitals":
      return vitalsText(properties);
    case "page":
      return textOf(own(properties, "$screen_name")) ?? textOf(own(properties, "$pathname")) ?? "";
    default:
      return ownProperties(properties);
  }
}
