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

export const runStatuses = ["Starting", "Running", ...endStatuses] as const;

export const logLevels = ["DEBUG", "INFO", "WARNING", "ERROR"] as const;
