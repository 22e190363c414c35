import type { Tone } from "../../parts/tone.ts";

interface StatusRow {
  readonly tone: Tone;
  /** Says the same as the colour. */
  readonly mark: string;
  readonly isOpen?: true;
}

const rows: Readonly<Record<string, StatusRow>> = {
  Starting: { tone: "plain", mark: "◌", isOpen: true },
  Running: { tone: "accent", mark: "▸", isOpen: true },
  Completed: { tone: "good", mark: "✓" },
  ContinuedAsNew: { tone: "note", mark: "↻" },
  Cancelled: { tone: "odd", mark: "–" },
  Terminated: { tone: "odd", mark: "■" },
  Failed: { tone: "bad", mark: "✕" },
  FailedRetryable: { tone: "bad", mark: "↺" },
  FailedBilling: { tone: "bad", mark: "¤" },
  TimedOut: { tone: "bad", mark: "◔" },
};

const unknown: StatusRow = { tone: "plain", mark: "?" };

/** How a run's status is shown. */
export const statusRow = (status: string): StatusRow =>
  (Object.hasOwn(rows, status) ? rows[status] : undefined) ?? unknown;

/** The statuses that a run can be made to end in. */
export const ends: readonly string[] = Object.keys(rows).filter((it) => rows[it]?.isOpen !== true);
