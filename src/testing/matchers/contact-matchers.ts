import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import type { Contact } from "../../lab/assert/contact-rows.ts";
import { printable } from "../../lab/assert/match/printable.ts";
import { capped, sharedLine } from "./event-matchers.ts";
import { type ContactOptions, causesOr, type MatcherCall, type MatcherOutcome, messageOf } from "./matcher.ts";

const contactLine = ({ n, at, method, target, kind, inspect }: Contact): string =>
  `  request #${n} ${at} ${kind}: ${method} ${printable(target)}${inspect === null ? "" : `\n    ${printable(inspect, 200)}`}`;

/** A request of an SDK, now or within the wait; with `.not` there is none once it is quiet. */
export async function contacted(call: MatcherCall, { since, timeoutMs }: ContactOptions = {}): Promise<MatcherOutcome> {
  const { tenant, isNot } = call;
  if (isNot) await tenant.settle(timeoutMs === undefined ? {} : { timeoutMs });
  const contacts = await tenant.requests.contacts({
    ...(since !== undefined && { since }),
    ...(!isNot && { waitMs: assertionsOf(tenant).within(timeoutMs) }),
  });
  if (contacts.length === 0) {
    const hint = "check the client's host and key, and whether the user has opted out";
    const causes = await causesOr(call, hint);
    return { pass: false, text: messageOf(call, "no request of an SDK has arrived", ...causes) };
  }
  const unattributed = contacts.filter(({ project }) => project === null).length;
  const lines = [
    `requests of SDKs: ${contacts.length}, oldest first`,
    ...capped(contacts.toReversed().map(contactLine), "requests"),
    ...(unattributed > 0 ? [sharedLine(unattributed)] : []),
  ];
  return { pass: true, text: messageOf(call, ...lines) };
}
