import { plain } from "../../parts/text.ts";
import type { ShownExport } from "./answers.ts";

const texts: Readonly<Record<string, string>> = {
  run_started: "a run started",
  run_completed: "a run completed",
  run_failed: "a run failed",
  run_cancelled: "a run was cancelled",
  run_ended: "a run ended",
  backfill_completed: "a backfill was completed",
  batch_export_paused: "an export was paused",
};

/** Names that are told; of more, how many. */
const mostNamed = 3;

/** Whose runs become due at a time, in words; "" where none of these exports is due then. */
export function dueText(exports: readonly Pick<ShownExport, "name" | "next_run">[], at: string): string {
  const due = exports.filter((it) => it.next_run !== null && Date.parse(it.next_run) === Date.parse(at));
  const names = due.slice(0, mostNamed).map(({ name }) => plain(name, 60) || "(no name)");
  const rest = due.length - names.length;
  return `${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** What came about, in words; a kind that is not known says its name. */
export const happenedText = (kind: string): string =>
  (Object.hasOwn(texts, kind) ? texts[kind] : undefined) ?? kind.replaceAll("_", " ");

/** An export's interval as the service names it (`hour`, `every 5 minutes`), in words. */
export const everyText = (interval: string): string =>
  interval.startsWith("every") ? interval : `every ${interval}`;
