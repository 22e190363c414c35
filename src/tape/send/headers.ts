import { validateHeaderName, validateHeaderValue } from "node:http";
import type { HeaderPairs } from "../types.ts";

/** What belongs to the way a request travelled, to another host's visitors, or asks for another answer than recorded. */
const left: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "content-length",
  "cookie",
  "if-none-match",
  "if-modified-since",
  "proxy-connection",
  "proxy-authorization",
]);

/** Is a header not sent again? */
export const isLeftOut = (name: string): boolean => left.has(name.toLowerCase()) || name.startsWith(":");

/** A recorder may have taken down what no client can send. */
function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A credential that was taken away as a whole had its scheme before it. */
const credential = (value: string): string => (/^\S+$/.test(value) ? `Bearer ${value}` : value);

export interface HeaderPlan {
  host: string;
  /** Bytes of the body; undefined: there is none. */
  length: number | undefined;
  now: number;
}

/** The headers of a request as they go out: order, case and duplicates as recorded. */
export function headersFor(recorded: HeaderPairs, { host, length, now }: HeaderPlan): string[] {
  const rows: Readonly<Record<string, (value: string) => string>> = {
    authorization: credential,
    "posthog-request-timestamp": () => new Date(now).toISOString(),
  };
  const kept = recorded
    .filter(([name]) => !isLeftOut(name))
    .map(([name, value]) => {
      const lower = name.toLowerCase();
      return [name, Object.hasOwn(rows, lower) ? (rows[lower]?.(value) ?? value) : value] as const;
    })
    .filter(([name, value]) => isHeader(name, value));
  return ["Host", host, ...kept.flat(), ...(length === undefined ? [] : ["Content-Length", String(length)])];
}
