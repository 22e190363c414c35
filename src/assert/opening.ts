import type { Call } from "../http/call.ts";
import type { Reply } from "../http/reply.ts";
import { distinctIdIn, namesIn } from "./asked-pattern.ts";
import type { AssertDesk } from "./desk.ts";
import { type Ending, endingOf } from "./gone.ts";
import { createTally, type Tally } from "./tally.ts";
import { type Watch, watchEvents } from "./watch.ts";
import type { Wish } from "./wish.ts";

export type Handle = (desk: AssertDesk, call: Call) => Promise<Reply>;

/** Watches what the terms are about. */
export function open(desk: AssertDesk, { terms, scope, outcome }: Wish): { tally: Tally; watch: Watch } {
  const tally = createTally(terms);
  const patterns = terms.expect.map(({ match }) => match);
  const isAny = terms.nothingElse === true;
  const watched = {
    ...scope,
    outcome,
    names: isAny ? undefined : namesIn(patterns),
    distinct_id: isAny ? undefined : distinctIdIn(patterns),
  };
  return { tally, watch: watchEvents(desk, watched, tally.take) };
}

/** Runs a wait that ends when the caller goes away or the sim closes. */
export async function whileThere<T>(
  desk: AssertDesk,
  call: Call,
  run: (gone: Ending) => Promise<T>,
): Promise<T> {
  const gone = endingOf(call.signal, desk.closing);
  try {
    return await run(gone);
  } finally {
    gone.release();
  }
}
