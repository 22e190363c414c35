import { recentMap } from "../recent-map.ts";
import type { LintEvent, Rule } from "../types.ts";

const mostUuids = 5_000;

/** What tells an event from another one with its uuid. */
const gistOf = ({ event, distinct_id, timestamp }: LintEvent): string =>
  JSON.stringify([event, distinct_id, timestamp]);

/** `duplicate_uuid`, `retried_event`: told of events whose first sending is remembered. */
export function duplicateUuid(): Rule {
  const kept = recentMap<string, string>(mostUuids);
  return {
    look({ events }, { tell }) {
      for (const it of events) {
        if (it.uuid === null) continue;
        if (it.dropped === undefined) kept.set(it.uuid, gistOf(it));
        const first = it.dropped === "duplicate_event_uuid" ? kept.get(it.uuid) : undefined;
        if (first === undefined) continue;
        const { event, seq } = it;
        const isSame = first === gistOf(it);
        const code = isSame ? "retried_event" : "duplicate_uuid";
        const detail = isSame ? "name, distinct_id and timestamp are the same" : `uuid ${it.uuid}`;
        tell({ code, event, subject: "", detail, seq });
      }
    },
  };
}
