import { clean } from "../../../kernel/command/clean-text.ts";
import type { Style } from "../../../kernel/command/style.ts";
import { factLines, propertyLines } from "../../../kernel/command/thin-command.ts";
import type { StoredEvent } from "../event.ts";
import { outcomeOf, outcomeText } from "../outcomes.ts";
import { isSdkProperty } from "../sdk-properties.ts";

const propertiesWidth = 100;

function shortProperties(properties: StoredEvent["properties"]): string {
  const own = Object.entries(properties).filter(([name]) => !isSdkProperty(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return own.length === 0 ? "" : clean(text, propertiesWidth);
}

function outcomePart(event: StoredEvent, style: Style): string {
  const { reason, detail, warnings } = event;
  const outcome = outcomeOf(event);
  const codes = [reason, ...warnings].flatMap((code) => (code === null ? [] : [clean(code)])).join(", ");
  if (outcome === "kept") return "";
  const text = `${outcomeText(outcome)} ${codes}${detail ? ` (${clean(detail, 80)})` : ""}`;
  return outcome === "dropped" ? style.bad(text) : style.bold(text);
}

export function eventLines(event: StoredEvent, style: Style): string[] {
  const fact = factLines(style);
  return [
    eventLine({ ...event, properties: {} }, true, style),
    ...fact("outcome", outcomePart(event, style) || "kept"),
    ...fact("timestamp", clean(event.timestamp)),
    ...fact("received at", clean(event.received_at)),
    ...fact("uuid", clean(event.uuid ?? "none")),
    ...fact("person", `${clean(event.person_id ?? "none")} (${event.person_mode})`),
    ...fact("request", `#${event.request} (phx-sim requests show ${event.request})`),
    ...fact("properties", ...propertyLines(event.properties, 2000)),
  ];
}

export function eventLine(event: StoredEvent, severalProjects: boolean, style: Style): string {
  const { seq, project, received_at, properties } = event;
  return [
    style.dim(clean(received_at.slice(11, 23))),
    style.dim(`#${seq}`),
    severalProjects ? `[${project ?? "none"}]` : "",
    style.bold(clean(event.event, 80) || "(no name)"),
    clean(event.distinct_id, 60) || "(no distinct id)",
    outcomePart(event, style),
    shortProperties(properties),
  ]
    .filter((part) => part !== "")
    .join("  ");
}
