import { bodyOf } from "../http/control-body.ts";
import { json } from "../http/reply.ts";
import type { StoredEvent } from "../journal/event.ts";
import type { AssertDesk } from "./desk.ts";
import { failure } from "./failure.ts";
import { endingOf } from "./gone.ts";
import { judge } from "./match/judge.ts";
import { settleGrace } from "./match/patience.ts";
import { type Handle, open, whileThere } from "./opening.ts";
import type { Tally } from "./tally.ts";
import type { Watch } from "./watch.ts";
import { type VerifyWish, verifyWish, type Wish } from "./wish.ts";

/** Must it be certain that nothing more is coming? */
const needsQuiet = ({ terms }: Wish): boolean =>
  terms.nothingElse === true || terms.expect.some(({ count }) => count?.max !== undefined);

/** Waits until nothing more is coming, or too much came. */
async function settled(
  { gauge }: AssertDesk,
  { scope, settle }: VerifyWish,
  { tally, watch, gone, left }: { tally: Tally; watch: Watch; gone: AbortSignal; left: number },
): Promise<boolean> {
  const over = endingOf(gone);
  const isOver = watch.until(tally.isExceeded, left, over.signal).finally(over.end);
  const isQuiet = await gauge.quiet(settle, over.signal, scope.project).then(
    () => true,
    () => false,
  );
  over.end();
  await isOver;
  over.release();
  return isQuiet;
}

/** Events that an answer shows at most; `matched` names them all. */
const mostShown = 1_000;

/** Those that any expectation matched. */
function matchedOf(events: readonly StoredEvent[], matched: readonly (readonly number[])[]): StoredEvent[] {
  const seqs = new Set(matched.flat());
  return events.filter(({ seq }) => seqs.has(seq)).slice(0, mostShown);
}

export const verify: Handle = (desk, call) =>
  whileThere(desk, call, async ({ signal: gone }) => {
    const wish = verifyWish(desk, bodyOf(call));
    const started = performance.now();
    const { tally, watch } = open(desk, wish);
    const isDecided = () => tally.isExceeded() || (watch.isCaughtUp && tally.isMet());
    let isSettled = true;
    try {
      const isMet = (await watch.until(isDecided, wish.timeout, gone)) && !tally.isExceeded();
      if (isMet && needsQuiet(wish) && wish.settle > 0) {
        const left = Math.max(started + wish.timeout - performance.now(), wish.settle + settleGrace);
        isSettled = await settled(desk, wish, { tally, watch, gone, left });
      }
    } finally {
      watch.close();
    }
    const { events } = tally;
    const { passed, matched } = judge(wish.terms, events);
    const cursor = desk.log.lastSeq;
    if (passed && !gone.aborted)
      return json({ passed, matched, events: matchedOf(events, matched), settled: isSettled, cursor });
    const waited = performance.now() - started;
    throw await failure(desk, "expectation_failed", { wish, events, waited, url: call.origin, gone });
  });
