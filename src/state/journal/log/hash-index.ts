const shardBits = 6;
const shardCount = 1 << shardBits;
const smallest = 64;
/** After opening, before the rows that were there are indexed; ms. */
const delay = 250;
/** Rows indexed per event-loop turn while catching up after opening. */
const slice = 10_000;

interface Shard {
  slots: Uint32Array;
  used: number;
}

/**
 * `hashAt(row)` reads a row's hash back from its table (0: the row is not indexed); `existing` rows are indexed in slices after
 * opening, so that opening does not wait for it. Until then `scan` answers for them: it returns the first row with the
 * hash in [from, to), or -1.
 * 64 shards grow one at a time: no long pause at any size.
 */
export function createHashIndex(
  hashAt: (row: number) => number,
  existing: number,
  scan: (hash: number, from: number, to: number) => number,
) {
  let shards = freshShards();
  let behind = existing;
  let next = 0;

  function insert(hash: number, row: number): void {
    const shard = shards[hash & (shardCount - 1)];
    if (!shard) return;
    if (shard.slots === noSlots) shard.slots = new Uint32Array(smallest);
    if (shard.used * 4 >= shard.slots.length * 3) grow(shard);
    place(shard.slots, hash, row);
    shard.used++;
  }

  function grow(shard: Shard): void {
    const old = shard.slots;
    shard.slots = new Uint32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) place(shard.slots, hashAt(entry - 1), entry - 1);
  }

  function catchUp(): void {
    const until = Math.min(next + slice, behind);
    for (; next < until; next++) {
      const hash = hashAt(next);
      if (hash !== 0) insert(hash, next);
    }
    if (next < behind) setImmediate(catchUp);
  }
  // The start comes first: until then `scan` answers.
  if (behind > 0) setTimeout(catchUp, delay).unref();

  return {
    add: insert,
    /** First row with this hash that passes the test, or -1. Hashes collide: the test must look at the document. */
    find(hash: number, test: (row: number) => boolean) {
      const slots = shards[hash & (shardCount - 1)]?.slots ?? noSlots;
      const mask = slots.length - 1;
      for (let i = (hash >>> shardBits) & mask, entry = slots[i] ?? 0; entry !== 0; ) {
        if (hashAt(entry - 1) === hash && test(entry - 1)) return entry - 1;
        i = (i + 1) & mask;
        entry = slots[i] ?? 0;
      }
      let row = scan(hash, next, behind);
      while (row !== -1 && !test(row)) row = scan(hash, row + 1, behind);
      return row;
    },
    clear() {
      shards = freshShards();
      behind = next;
    },
  };
}

/** The slots of an empty shard: an index of few rows takes little memory. */
const noSlots = new Uint32Array(1);

const freshShards = (): Shard[] => Array.from({ length: shardCount }, () => ({ slots: noSlots, used: 0 }));

/** Linear probing from the hash's upper bits (the lower ones chose the shard). A slot holds row + 1. */
function place(slots: Uint32Array, hash: number, row: number): void {
  const mask = slots.length - 1;
  let i = (hash >>> shardBits) & mask;
  while (slots[i] !== 0) i = (i + 1) & mask;
  slots[i] = row + 1;
}
