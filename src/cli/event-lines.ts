import type { StoredEvent } from "../index.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** Longest text of an event's properties on a line. */
const propertiesWidth = 100;

/** What people gave it; the names that the SDKs add begin with `$`. */
function shortProperties(properties: StoredEvent["properties"]): string {
  const own = Object.entries(properties).filter(([name]) => !/^\$|^token$/.test(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return own.length === 0 ? "" : clean(text, propertiesWidth);
}

/** All of an event: its facts, then its properties, one a line. */
export function eventLines(event: StoredEvent, style: Style): string[] {
  const row = (name: string, text: string) => `  ${style.dim(name.padEnd(12))} ${text}`;
  const { properties, warnings, detail, reason } = event;
  return [
    eventLine({ ...event, properties: {} }, true, style),
    row(
      "outcome",
      reason === null ? event.outcome : `dropped ${clean(reason)}${detail ? `: ${clean(detail)}` : ""}`,
    ),
    ...warnings.map((it, i) => row(i === 0 ? "warnings" : "", clean(String(it)))),
    row("timestamp", clean(event.timestamp)),
    row("received at", clean(event.received_at)),
    row("uuid", clean(event.uuid ?? "none")),
    row("person", `${clean(event.person_id ?? "none")} (${event.person_mode})`),
    row("request", `#${event.request} (phx-sim requests show ${event.request})`),
    ...Object.entries(properties).map(([name, value], i) =>
      row(i === 0 ? "properties" : "", `${clean(name, 80)} = ${clean(JSON.stringify(value), 2000)}`),
    ),
  ];
}

/** An event on a line: time, number, project when there are several, name, distinct id, properties; why it was dropped. */
export function eventLine(event: StoredEvent, severalProjects: boolean, style: Style): string {
  const { outcome, reason, detail, seq, project, received_at, properties } = event;
  const why =
    reason === null ? "" : style.bad(`dropped ${clean(reason)}${detail ? ` (${clean(detail, 80)})` : ""}`);
  return [
    style.dim(clean(received_at.slice(11, 23))),
    style.dim(`#${seq}`),
    severalProjects ? `[${project ?? "none"}]` : "",
    style.bold(clean(event.event, 80) || "(no name)"),
    clean(event.distinct_id, 60) || "(no distinct id)",
    outcome === "dropped" ? why : "",
    shortProperties(properties),
  ]
    .filter((part) => part !== "")
    .join("  ");
}
