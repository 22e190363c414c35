/** How it can stand with a run of a batch export, or a backfill; the service's words. */
export const runStatuses = [
  "Starting",
  "Running",
  "Completed",
  "Failed",
  "FailedRetryable",
  "FailedBilling",
  "Cancelled",
  "Terminated",
  "TimedOut",
  "ContinuedAsNew",
] as const;

/** How much a line of a run's log matters. */
export const logLevels = ["DEBUG", "INFO", "WARNING", "ERROR"] as const;
