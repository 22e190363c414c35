import { fixFor } from "../../../src/kernel/rejection-fixes.ts";

/** What to do about a rejection that says nothing itself. */
const others: Readonly<Record<string, string>> = {
  not_emulated:
    "check the path; what phx-sim does not emulate can be passed on with `phx-sim record --mode spy`",
  not_found:
    "check the path; what phx-sim does not emulate can be passed on with `phx-sim record --mode spy`",
  tape_miss: "record the tape again, or replay it with --on-miss emulate",
  upstream_unreachable: "look at the upstream's address and at the network",
  upstream_gone: "look at the upstream: it ended the connection",
  upstream: "the upstream refused it: look at its answer below",
};

/** What the sender can do about a rejection, as a sentence; "" when there is nothing to say. */
export function fixText(reason: string, isUnmatched: boolean, projectKey: string): string {
  // A document that is not there is no path that is not there.
  const other =
    reason === "not_found" && !isUnmatched ? "" : Object.hasOwn(others, reason) ? others[reason] : "";
  const fix = fixFor(reason, projectKey) || other || "";
  return fix === "" ? "" : `${fix.slice(0, 1).toUpperCase()}${fix.slice(1)}.`;
}
