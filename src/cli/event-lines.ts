import type { StoredEvent } from "../index.ts";
import { isSdkProperty } from "../kernel/sdk-properties.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** Longest text of an event's properties on a line. */
const propertiesWidth = 100;

/** The app's own properties on one line. */
function shortProperties(properties: StoredEvent["properties"]): string {
  const own = Object.entries(properties).filter(([name]) => !isSdkProperty(name));
  const text = JSON.stringify(Object.fromEntries(own));
  return own.length === 0 ? "" : clean(text, propertiesWidth);
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
