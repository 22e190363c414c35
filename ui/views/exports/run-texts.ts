import type { Export } from "../../../src/service/batch-exports/shapes.ts";
import type { IconName } from "../../parts/icon.tsx";
import { plain, type Tone } from "../../parts/text.ts";

interface StatusRow {
  readonly tone: Tone;
  readonly mark: IconName;
  readonly isOpen?: true;
}

const rows: Readonly<Record<string, StatusRow>> = {
  Starting: { tone: "plain", mark: "dot", isOpen: true },
  Running: { tone: "accent", mark: "play", isOpen: true },
  Completed: { tone: "good", mark: "tick" },
  ContinuedAsNew: { tone: "note", mark: "right" },
  Cancelled: { tone: "odd", mark: "hidden" },
  Terminated: { tone: "odd", mark: "stop" },
  Failed: { tone: "bad", mark: "close" },
  FailedRetryable: { tone: "bad", mark: "back" },
  FailedBilling: { tone: "bad", mark: "key" },
  TimedOut: { tone: "bad", mark: "clock" },
};

const unknown: StatusRow = { tone: "plain", mark: "alert" };

export const statusRow = (status: string): StatusRow =>
  (Object.hasOwn(rows, status) ? rows[status] : undefined) ?? unknown;

/** Statuses in which a run can end. */
export const ends: readonly string[] = Object.keys(rows).filter((it) => rows[it]?.isOpen !== true);

const texts: Readonly<Record<string, string>> = {
  run_started: "a run started",
  run_completed: "a run completed",
  run_failed: "a run failed",
  run_cancelled: "a run was cancelled",
  run_ended: "a run ended",
  backfill_completed: "a backfill was completed",
  batch_export_paused: "an export was paused",
};

const mostNamed = 3;

/** Names of the exports that are due at a time. */
export function dueText(exports: readonly Pick<Export, "name" | "next_run">[], at: string): string {
  const due = exports.filter((it) => it.next_run !== null && Date.parse(it.next_run) === Date.parse(at));
  const names = due.slice(0, mostNamed).map(({ name }) => plain(name, 60) || "(no name)");
  const rest = due.length - names.length;
  return `${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

export const happenedText = (kind: string): string =>
  (Object.hasOwn(texts, kind) ? texts[kind] : undefined) ?? kind.replaceAll("_", " ");

/** An export's interval (`hour`, `every 5 minutes`) in words. */
export const everyText = (interval: string): string => (interval.startsWith("every") ? interval : `every ${interval}`);
