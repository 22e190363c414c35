import { fixFor } from "../../../src/kernel/rejection-fixes.ts";

/** What to do about a rejection that says nothing itself. */
const others: Readonly<Record<string, string>> = {
  tape_miss: "record the tape again, or replay it with --on-miss emulate",
  upstream_unreachable: "look at the upstream's address and at the network",
  upstream_gone: "look at the upstream: it ended the connection",
  upstream: "the upstream refused it: look at its answer below",
};

/**
 * What the sender can do about a rejection, as a sentence; "" when there is nothing to say.
 * @param hint What the sim says of the request itself
 */
export function fixText(reason: string, hint: string | undefined, projectKey: string): string {
  const other = Object.hasOwn(others, reason) ? others[reason] : "";
  const fix = hint || fixFor(reason, projectKey) || other || "";
  return fix === "" ? "" : `${fix.slice(0, 1).toUpperCase()}${fix.slice(1)}.`;
}
