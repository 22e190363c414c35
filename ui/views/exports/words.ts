const texts: Readonly<Record<string, string>> = {
  run_started: "a run started",
  run_completed: "a run completed",
  run_failed: "a run failed",
  run_cancelled: "a run was cancelled",
  run_ended: "a run ended",
  backfill_completed: "a backfill was completed",
  batch_export_paused: "an export was paused",
};

/** What came about, in words; a kind that is not known says its name. */
export const happenedText = (kind: string): string =>
  (Object.hasOwn(texts, kind) ? texts[kind] : undefined) ?? kind.replaceAll("_", " ");

/** An export's interval as the service names it (`hour`, `every 5 minutes`), in words. */
export const everyText = (interval: string): string =>
  interval.startsWith("every") ? interval : `every ${interval}`;
