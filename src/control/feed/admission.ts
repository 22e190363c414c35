import type { Feed } from "../../feed/feed.ts";
import type { Session, Wire } from "../../feed/ports.ts";
import type { Call } from "../../http/call.ts";
import { checkSender, type GuardRules } from "../guard.ts";
import { type FeedDesk, openFeed } from "./open.ts";

/** The feed, and who may open it. */
export interface Admission {
  readonly feed: Feed;
  /**
   * What connects a caller to the feed; its token is asked for later.
   * @throws SimError forbidden_host, forbidden_origin
   */
  admit(call: Call): (wire: Wire) => Session;
}

export function openAdmission(desk: FeedDesk, rules: GuardRules): Admission {
  const feed = openFeed(desk, rules);
  return {
    feed,
    admit(call) {
      checkSender(call, rules);
      return feed.connect;
    },
  };
}
