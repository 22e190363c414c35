import type { Placeholder } from "../redact/placeholders.ts";

/** Values that can be given for a tape's placeholders. */
export interface GivenKeys {
  /** For `project_key` placeholders. */
  project?: string | undefined;
  /** For personal and secret keys, and what stood in an `Authorization` header. */
  personal?: string | undefined;
  /** The value of one placeholder; it counts before the keys. */
  secret?: (placeholder: Placeholder) => string | undefined;
  /** `redacted`: a secret that is not given is sent as a visible stand-in; absent: it is not sent. */
  fill?: "redacted" | undefined;
}

export interface SendPlan {
  /** Where all requests go; a path is put before each one's. */
  target: URL;
  keys: GivenKeys;
  /** ms by which the times of events move; 0 keeps them. */
  shiftMs: number;
  /** The uuid of a copy; absent: events keep theirs, so that the service sees that it has them. */
  newUuid?: (uuid: string) => string;
}

/** A request that is ready for the wire. */
export interface Prepared {
  method: string;
  /** Path and query. */
  target: string;
  /** name, value, name, value …, with `Host` and `Content-Length`. */
  headers: readonly string[];
  body: Buffer;
}

/** Why a recorded request cannot be sent. */
export const skipReasons = ["no_body", "cut_off", "tunnel", "method", "encoding"] as const;
export type SkipReason = (typeof skipReasons)[number];

export type Planned = { prepared: Prepared } | { skip: SkipReason };

/** How requests stand to each other. */
export type SendOrder = "per-person" | "strict" | "none";

/** Requests a second, or a multiple of the recorded pace. */
export type Rate = { perSecond: number } | { factor: number };
