import type { RawBody } from "../../tape/types.ts";

/** Keeps what passes by, up to a limit. */
export interface Keeper {
  add(chunk: Buffer): void;
  /** Bytes that have passed. */
  readonly bytes: number;
  /** All of it, or how much it was. */
  body(): RawBody;
}

/** @param limit Largest body that is kept, in bytes */
export function createKeeper(limit: number): Keeper {
  let chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      bytes += chunk.length;
      if (bytes <= limit) chunks.push(chunk);
      else chunks = [];
    },
    get bytes() {
      return bytes;
    },
    body: () => (bytes > limit ? { omitted: "too_large", bytes } : Buffer.concat(chunks)),
  };
}
