import { type EventKind, eventKind } from "../../src/state/journal/event-kinds.ts";
import { Icon, type IconName } from "./icon.tsx";

const byKind: Readonly<Record<EventKind, IconName>> = {
  own: "event",
  exception: "exception",
  ai: "ai",
  click: "click",
  vitals: "vitals",
  page: "page",
  person: "identify",
  group: "group",
  survey: "survey",
  flag: "flags",
  heatmap: "heatmap",
  recording: "sessions",
  sdk: "event",
};

/** Names that have a drawing other than their kind's. */
const byName: Readonly<Record<string, IconName>> = {
  $pageleave: "leave",
  $create_alias: "alias",
  $ai_span: "tool",
  $ai_trace: "span",
  $copy_autocapture: "copy",
};

const iconOfEvent = (name: string): IconName =>
  (Object.hasOwn(byName, name) ? byName[name] : undefined) ?? byKind[eventKind(name)];

/** The icon of an event's kind; its colour: the app's own in the accent, errors red, models violet, SDK events quiet. */
export const EventIcon = ({ name }: { name: string }) => (
  <Icon of={iconOfEvent(name)} class={`event-icon kind-${eventKind(name)}`} />
);
