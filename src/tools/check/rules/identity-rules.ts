import { isIllegalForMerge, isPlaceholder } from "../../../service/capture/person-ids.ts";
import type { Observations, Visit } from "../observations.ts";
import { callsOf, distinct, eventEvidence, isDocument, isOfBrowser, libOf, loadedIn, loadedSdks } from "./facts.ts";
import { type CheckEvidence, type CheckRule, noDelivery } from "./rule.ts";

const email = /^[^@\s]{1,100}@[^@\s]+\.[^@\s.]{2,}$/;

/** Placeholders for a user; a server may send events of `system` and `backend`. */
const isNobody = (id: string): boolean => isIllegalForMerge(id) || isPlaceholder(id);

/** Two identify calls for different ids, without a reset between them. */
function changesOfUser({ visits }: Observations): CheckEvidence[] {
  let before: string | undefined;
  const found: CheckEvidence[] = [];
  for (const visit of visits) {
    for (const { name, argument, loaded } of callsOf(visit, "identify", "reset")) {
      if (name === "reset") before = undefined;
      if (name !== "identify" || argument === null || !loaded || isNobody(argument)) continue;
      if (before !== undefined && before !== argument)
        found.push({
          text: "posthog.identify was called for a second id, without posthog.reset() before it",
          url: visit.url,
        });
      before = argument;
    }
  }
  return found;
}

const originOf = ({ url }: Visit): string => (URL.canParse(url) ? new URL(url).origin : url);

/** Loads of one site that begin with another id than the load before them ended with. */
function newIds({ visits }: Observations): CheckEvidence[] {
  const loads = visits.filter(isDocument);
  return loads.flatMap((visit, i) => {
    const before = visits[visits.indexOf(visit) - 1] ?? loads[i - 1];
    if (before === undefined || originOf(before) !== originOf(visit)) return [];
    if (callsOf(visit, "identify", "reset").length > 0) return [];
    const [one, other] = [loadedIn(before)[0], loadedIn(visit)[0]];
    if (!one?.distinctId || !other?.distinctId || other.config.cookieless !== null) return [];
    if (one.distinctId === other.distinctId) return [];
    const text = `another distinct_id than on the page before; persistence is ${other.config.persistence ?? "unknown"}`;
    return [{ text, url: visit.url }];
  });
}

function resets({ visits }: Observations): CheckEvidence[] {
  const loads = visits.filter(isDocument);
  const isOnEach = loads.length > 1 && loads.every((it) => callsOf(it, "reset").length > 0);
  return isOnEach ? loads.map(({ url }) => ({ text: "posthog.reset() was called", url })) : [];
}

/** Whether persons have real ids that last. */
export const identityRules = {
  id_placeholder: {
    area: "identity",
    severity: "error",
    sentence: "a placeholder is used as the id of a person: all users would become one, or none",
    fix: "pass the user's id of your database, and call identify only once it is known",
    find: (o) =>
      distinct([
        ...o.visits.flatMap((visit) =>
          callsOf(visit, "identify")
            .filter(({ argument }) => isNobody(argument ?? ""))
            .map(({ argument }) => ({
              text:
                argument === null
                  ? "posthog.identify was called without a string"
                  : `posthog.identify(${JSON.stringify(argument)})`,
              url: visit.url,
            })),
        ),
        ...o.events
          .filter((it) => isIllegalForMerge(it.distinct_id))
          .map((it) => eventEvidence(it, `${it.event} of ${libOf(it)} has the distinct_id "${it.distinct_id}"`)),
      ]),
  },
  id_is_email: {
    area: "identity",
    severity: "warning",
    sentence: "an e-mail address is used as the id of a person: it is in every event and changes",
    fix: "pass the user's id of your database; an e-mail address belongs in the person's properties",
    find: (o) =>
      distinct([
        ...o.visits.flatMap((visit) =>
          callsOf(visit, "identify")
            .filter(({ argument }) => email.test(argument ?? ""))
            .map(() => ({ text: "posthog.identify was called with an e-mail address", url: visit.url })),
        ),
        ...o.events
          .filter((it) => !isOfBrowser(it) && email.test(it.distinct_id))
          .map((it) => eventEvidence(it, `${it.event} of ${libOf(it)} has an e-mail address as its distinct_id`)),
      ]),
  },
  identified_twice: {
    area: "identity",
    severity: "warning",
    sentence: "two users are identified in one browser without a reset between them",
    fix: "call posthog.reset() on logout",
    find: changesOfUser,
  },
  reset_on_load: {
    area: "identity",
    severity: "warning",
    sentence: "posthog.reset() is called on every page: each page begins a new person",
    fix: "call it on logout only",
    find: resets,
  },
  id_changes: {
    area: "identity",
    severity: "warning",
    sentence: "a user is another person after each page load",
    fix: 'leave persistence at its default ("localStorage+cookie"); without storage, cookieless_mode counts visitors',
    unless: ["reset_on_load", "sdk_opted_out"],
    find: newIds,
  },
  identify_missing: {
    area: "identity",
    severity: "info",
    sentence: "no user was identified on the pages that were opened",
    fix: "call posthog.identify(id) after the login; check pages behind it with --click, or with their address",
    unless: noDelivery,
    find: (o) =>
      loadedSdks(o).length > 0 && o.visits.every((it) => callsOf(it, "identify").length === 0)
        ? [{ text: "posthog.identify was not called" }]
        : [],
  },
} as const satisfies Record<string, CheckRule>;
