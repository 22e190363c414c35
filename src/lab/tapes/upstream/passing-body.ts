import { performance } from "../../../kernel/base/real-time.ts";

/** When the parts of a body came: ms from the request's arrival, and the bytes that had come by then, as they travelled. */
export type ChunkTimes = readonly (readonly [ms: number, bytes: number])[];

/** Most times that are kept of one body; of more, every second one is dropped. */
export const mostChunks = 256;

/** A body that comes within this time counts as one part, ms. */
const oneMoment = 10;

/** Keeps the times of a body's parts. @param started The request's arrival, on the monotonic clock */
export function createChunkTimes(started: number) {
  let times: [ms: number, bytes: number][] = [];
  let bytes = 0;
  return {
    add(chunk: { readonly length: number }): void {
      bytes += chunk.length;
      const ms = performance.now() - started;
      const last = times.at(-1);
      // one write of the sender in several reads
      if (last !== undefined && ms - last[0] < 1) last[1] = bytes;
      else times.push([ms, bytes]);
      if (times.length === mostChunks) times = times.filter((_, i) => i % 2 === 1);
    },
    /** undefined: it came as a whole. */
    list(): ChunkTimes | undefined {
      const [first, last] = [times[0], times.at(-1)];
      if (!first || !last || last[0] - first[0] < oneMoment) return undefined;
      return times.map(([ms, size]) => [Math.round(ms), size]);
    },
  };
}

/** Keeps what passes by, up to `limit` bytes; of more only the size. */
export function createKeeper(limit: number) {
  let chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer) {
      bytes += chunk.length;
      if (bytes <= limit) chunks.push(chunk);
      else chunks = [];
    },
    get bytes() {
      return bytes;
    },
    body() {
      if (bytes > limit) return { omitted: "too_large" as const, bytes };
      const [first = Buffer.alloc(0)] = chunks;
      return chunks.length > 1 ? Buffer.concat(chunks) : first;
    },
  };
}

export type Keeper = ReturnType<typeof createKeeper>;
