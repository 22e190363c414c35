import { randomUUID } from "node:crypto";
import type { GuardRules } from "../../http/control-access.ts";
import type { ControlDesk } from "../../sim/control-desk.ts";
import { readEventFilter, readRequestFilter } from "../filter/read.ts";
import { runningCounts } from "./counts.ts";
import { createFeed, type Feed } from "./feed.ts";
import { feedJournal } from "./journal.ts";
import { statOf } from "./stat.ts";

export type FeedDesk = Omit<ControlDesk, "flagBook" | "exports" | "feed">;

/** The feed of a sim; it ends with the sim. */
export function openFeed(desk: FeedDesk, { token }: GuardRules): Feed {
  const counts = runningCounts(desk.log);
  const feed = createFeed({
    journal: feedJournal(desk.log),
    read: { events: readEventFilter, requests: readRequestFilter },
    now: desk.clock.now,
    stat: () => statOf(desk, counts),
    token,
    makeEpoch: randomUUID,
    notice: desk.notice,
  });
  const close = () => {
    feed.close();
    counts.close();
  };
  if (desk.closing.aborted) close();
  else desk.closing.addEventListener("abort", close, { once: true });
  return feed;
}
