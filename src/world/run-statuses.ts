/** Statuses that a run of a batch export, or a backfill, ends in; the service's words. */
export const endStatuses = [
  "Completed",
  "Failed",
  "FailedRetryable",
  "FailedBilling",
  "Cancelled",
  "Terminated",
  "TimedOut",
  "ContinuedAsNew",
] as const;

/** All statuses of a run or a backfill. */
export const runStatuses = ["Starting", "Running", ...endStatuses] as const;

/** How much a line of a run's log matters. */
export const logLevels = ["DEBUG", "INFO", "WARNING", "ERROR"] as const;
