import type { CallFault, CallRecord } from "../../kernel/http/call.ts";

declare module "../../kernel/http/call.ts" {
  interface CallFault {
    readonly quota?: readonly string[];
    /** The result of each event of capture v1, in place of the true one. */
    readonly results?: { readonly result: "drop" | "retry"; readonly details: string };
  }
}

export interface Packet {
  /** Path without query and without a trailing slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly peer: string;
  /** Arrival, ms since the epoch. */
  readonly at: number;
  readonly fault?: Pick<CallFault, "quota" | "results"> | undefined;
  readonly record: CallRecord;
}

export const isUsedUp = ({ fault }: Pick<Packet, "fault">, what: "events" | "recordings"): boolean =>
  fault?.quota?.includes(what) === true;

const mebibyte = 1024 * 1024;

/** Largest decoded body in bytes, by kind of endpoint. */
export const decodedLimits = {
  legacy: 20 * mebibyte,
  recording: 25 * mebibyte,
  v1: 50 * mebibyte,
  otel: 4 * mebibyte,
} as const;
