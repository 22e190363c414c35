import { hopHeaders } from "../kernel/hop-headers.ts";
import type { HeaderPairs } from "../tape/types.ts";

/**
 * Recorded headers that are not said again: those of one connection (RFC 9110 §7.6.1), those about how the body
 * travelled, which is sent decoded, those the sim says itself, and those that would bind a browser to the
 * recorded host.
 */
const unsaid: ReadonlySet<string> = new Set([
  ...hopHeaders,
  "content-encoding",
  "content-length",
  "date",
  "x-phx-source",
  "x-phx-miss",
  "alt-svc",
  "strict-transport-security",
]);

/** Who may read the answer is said for the page that asks now, not for the recorded one. */
const isUnsaid = (name: string): boolean => unsaid.has(name) || name.startsWith("access-control-");

const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A tape may be written by anybody: what cannot stand in a header is left out. */
const canBeSent = (name: string, value: string): boolean =>
  namePattern.test(name) && valuePattern.test(value);

/** The recorded headers of an answer as they are sent again: flat, in order, duplicates kept. */
export const headersToSend = (recorded: HeaderPairs): string[] =>
  recorded.flatMap(([name, value]) =>
    !isUnsaid(name.toLowerCase()) && canBeSent(name, value) ? [name, value] : [],
  );
