/** What the feed holds and allows. */
export const limits = {
  /** Pages at the same time. */
  pages: 32,
  /** A page says hello within this time, ms. */
  hello: 5_000,
  /** Messages of one page in a second. */
  messages: 20,
  /** Resets that a page is told in a second: after each it reads everything again. */
  resets: 4,
  /** Bytes that wait for a page before nothing more is sent to it. */
  buffered: 512 * 1024,
  /** A page that takes nothing for so long is let go, ms. */
  stalled: 30_000,
  /** Requests, events and characters of a frame; one request is never cut in two. */
  batch: { requests: 200, events: 2_000, characters: 128 * 1024 },
  /** From one round of frames to the next, ms. */
  round: 30,
  /** Work for one page before other work gets a turn, ms. */
  turn: 4,
  /** What the ring holds. */
  ring: { events: 100_000, bytes: 32 * 1024 * 1024 },
  /** Requests that are read again for a page that comes back, from before the ring was begun. */
  readBack: 10_000,
  /** From one look at the stat and at stalled pages to the next, ms. */
  tick: 1_000,
} as const;
