import { bodyOf } from "../http/control-body.ts";
import { json } from "../http/reply.ts";
import { failure } from "./failure.ts";
import { inOrder } from "./match/judge.ts";
import { type Handle, open, whileThere } from "./opening.ts";
import { waitWish } from "./wish.ts";

/** Answers with the first events that are wanted, as soon as they are all there. */
export const wait: Handle = (desk, call) =>
  whileThere(desk, call, async ({ signal }) => {
    const wish = waitWish(desk, bodyOf(call));
    const started = performance.now();
    const { tally, watch } = open(desk, wish);
    const isMet = await watch.until(tally.isMet, wish.timeout, signal).finally(watch.close);
    const found = isMet ? inOrder(wish.terms, tally.events)?.flat() : undefined;
    if (found) return json({ events: found, cursor: found.at(-1)?.seq ?? desk.log.lastSeq });
    const waited = performance.now() - started;
    const { events } = tally;
    throw await failure(desk, "wait_timeout", { wish, events, waited, url: call.origin, gone: signal });
  });
