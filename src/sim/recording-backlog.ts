import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import { atOnce, inSlices, type Work } from "../kernel/work.ts";

/** Exchanges that are looked through and written, in the order in which they ended. */
export interface Backlog {
  /**
   * Does the work in its turn, and resolves to what it returns.
   * @param weight Bytes that it is about
   * @param res The answer to the client, which must not wait for the work
   */
  take<T>(weight: number, res: ServerResponse, work: () => Work<T>): Promise<T>;
  /** From now on nothing waits for a lull: the recording ends. Resolves when all of it is done. */
  finish(): Promise<void>;
}

/** Redacting a megabyte takes a tenth of a second: such work waits for a lull, and is done in slices even then. */
const heavy = 256 * 1024;

/** No request has come for this long: a client that asks for one thing after another is done, ms. */
const lullMs = 100;

/** Waiting longer would keep too much from the disk, ms. */
const mostWaitMs = 2_000;

/** @param arrived How many requests have come so far */
export function createBacklog(arrived: () => number): Backlog {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let hurry = () => {};
  const hurried = new Promise<true>((resolve) => {
    hurry = () => resolve(true);
  });

  const soon = (ms: number): Promise<true | undefined> =>
    Promise.race([pause(ms, undefined, { ref: false }), hurried]);

  async function lull(res: ServerResponse): Promise<void> {
    const latest = performance.now() + mostWaitMs;
    const sent = res.closed ? undefined : once(res, "close").then(undefined, () => {});
    if ((await Promise.race([sent, soon(mostWaitMs)])) === true) return;
    let before = -1;
    while (before !== arrived() && performance.now() < latest) {
      before = arrived();
      if (await soon(lullMs)) return;
    }
  }

  return {
    async take(weight, res, work) {
      const isLight = weight < heavy;
      if (isLight && waiting === 0) return atOnce(work());
      waiting++;
      const turn = last.then(() => (isLight ? undefined : lull(res))).then(() => inSlices(work()));
      last = turn.catch(() => {}).finally(() => waiting--);
      return turn;
    },
    async finish() {
      hurry();
      await last;
    },
  };
}
