/** What an event shows, by its name. `own`: of the app itself; all other kinds are sent by SDKs. */
export type EventKind =
  | "own"
  | "exception"
  | "ai"
  | "click"
  | "vitals"
  | "page"
  | "person"
  | "group"
  | "survey"
  | "flag"
  | "heatmap"
  | "recording"
  | "sdk";

const byName: Readonly<Record<string, EventKind>> = {
  $exception: "exception",
  $autocapture: "click",
  $rageclick: "click",
  $dead_click: "click",
  $copy_autocapture: "click",
  $web_vitals: "vitals",
  $pageview: "page",
  $pageleave: "page",
  $screen: "page",
  $identify: "person",
  $set: "person",
  $create_alias: "person",
  $merge_dangerously: "person",
  $groupidentify: "group",
  "survey shown": "survey",
  "survey sent": "survey",
  "survey dismissed": "survey",
  "survey abandoned": "survey",
  $feature_flag_called: "flag",
  $feature_view: "flag",
  $feature_interaction: "flag",
  $$heatmap: "heatmap",
  $snapshot: "recording",
  $snapshot_items: "recording",
};

/** The kind of an event; a name with `$` that no row knows is of kind `sdk`. */
export function eventKind(name: string): EventKind {
  if (Object.hasOwn(byName, name)) return byName[name] ?? "sdk";
  if (name.startsWith("$ai_")) return "ai";
  return name.startsWith("$") ? "sdk" : "own";
}
