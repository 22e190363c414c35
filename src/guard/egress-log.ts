import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { BlockedCall } from "./types.ts";

/** Variables by which a child process learns what to guard. */
export const logVariable = "PHX_SIM_EGRESS_LOG";
export const rulesVariable = "PHX_SIM_EGRESS_RULES";

/** Frames make a line long; short lines are appended whole, whoever else is appending. */
const stackKept = 2_000;

/** Appends a call, at once: the process may end at any time. A log that is gone is nobody's any more. */
export function appendCall(file: string, call: BlockedCall): void {
  try {
    appendFileSync(file, `${JSON.stringify({ ...call, stack: call.stack.slice(0, stackKept) })}\n`);
  } catch {
    // The guard blocks all the same.
  }
}

function callsIn(line: string): BlockedCall[] {
  try {
    return [JSON.parse(line)];
  } catch {
    // Half a line: its process was killed while writing.
    return [];
  }
}

/** The calls in the log, in order of writing. */
export const readCalls = (file: string): BlockedCall[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap(callsIn) : [];
