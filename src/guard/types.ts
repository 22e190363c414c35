/** A call that was kept from reaching a guarded host. */
export interface BlockedCall {
  /** `POST`; null where only a connection is known (http/2, raw sockets). */
  method: string | null;
  /** `https://us.i.posthog.com/batch/`, keys masked; `us.i.posthog.com:443` where only a connection is known. */
  url: string;
  host: string;
  /** When, in ISO 8601. */
  at: string;
  /** The caller's frames, a line each; "" where they are not known (calls of child processes that are no Node). */
  stack: string;
}

/** SDKs try again and again: more calls than anybody reads are blocked, but not kept. */
export const callsKept = 1_000;

export interface GuardOptions {
  /**
   * Hosts besides the service's own, e.g. your reverse proxy: `e.example.com`, `*.example.com`,
   * `app.example.com/ingest`, `*` for every host. This machine itself is never guarded.
   */
  hosts?: readonly string[];
  /** Hosts that may be reached all the same; the same spellings. */
  allow?: readonly string[];
}

/**
 * Keeps the code under test from reaching the real service. Leaving its `using` block ends it, and throws when calls
 * were blocked that `verify` has not told yet: SDKs swallow network errors, so the failure must come from here.
 */
export interface Guard extends Disposable, AsyncDisposable {
  /** The calls that were blocked so far, oldest first (the first 1,000). */
  calls(): readonly BlockedCall[];
  /** @throws EgressError naming every blocked call */
  verify(): void;
  /** Forgets the calls so far: they were wanted. */
  clear(): void;
  /** Ends it without a word. Harmless when done twice, in any order with other guards. */
  close(): void;
}
