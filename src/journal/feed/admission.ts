import type { Call } from "../../http/call.ts";
import { checkSender, type GuardRules } from "../../http/control-access.ts";
import type { Feed } from "./feed.ts";
import { type FeedDesk, openFeed } from "./open.ts";
import type { Session, Wire } from "./ports.ts";

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
