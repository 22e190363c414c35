import type { JsonObject } from "../../kernel/base/json.ts";
import { isObject } from "../../kernel/base/json.ts";
import { inSlices } from "../../kernel/base/work.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { createBudget, examineEvents } from "../../state/journal/search.ts";
import { flagRequests } from "./decision-index.ts";
import { answered, usesIn } from "./decision-lines.ts";
import type { FlagDecision } from "./decision-shapes.ts";
import type { RequestedSubject } from "./subjects.ts";

/** Distinct ids that are evaluated, at most: the newest. */
const mostIds = 10_000;
/** Read for one answer, at most: the page asks again and again. */
const farthest = { entries: 20_000, bytes: 24 * 1024 * 1024 };

/** The distinct ids of a project, as they were seen last. */
export interface SeenIds {
  readonly subjects: ReadonlyMap<string, RequestedSubject>;
  /** Ids that a decision about the flag was for, and when the last was. */
  readonly asked: ReadonlySet<string>;
  readonly lastAsked: string | undefined;
  readonly isAll: boolean;
}

const nothing: JsonObject = Object.freeze({});

const textIn = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);

/** The subject of an event: stored properties, its device and its groups. */
const subjectOfEvent = ({ distinct_id: distinctId, properties }: StoredEvent): RequestedSubject => ({
  distinctId,
  deviceId: textIn(properties.$device_id),
  personProperties: nothing,
  groups: isObject(properties.$groups) ? properties.$groups : nothing,
  groupProperties: nothing,
});

/** The subject of a request for flags, with what it sent. */
const subjectOfRequest = (distinctId: string, asked: NonNullable<FlagDecision["asked"]>): RequestedSubject => ({
  distinctId,
  deviceId: asked.device_id ?? undefined,
  anonymousId: asked.anon_distinct_id ?? undefined,
  personProperties: asked.person_properties,
  groups: asked.groups,
  groupProperties: Object.fromEntries(Object.entries(asked.group_properties).filter(([, it]) => isObject(it))),
  address: asked.ip ?? undefined,
});

/** The newest distinct ids of a project: first those of requests for flags, with what they sent, then those of events. */
export async function seenIds(log: TrafficLog, { project, key }: { project: number; key: string }): Promise<SeenIds> {
  const subjects = new Map<string, RequestedSubject>();
  const asked = new Set<string>();
  let lastAsked: string | undefined;
  const isSpent = createBudget(farthest);
  let isAll = true;
  const add = (id: string, subject: () => RequestedSubject): void => {
    if (id !== "" && !subjects.has(id)) subjects.set(id, subject());
  };
  for await (const n of flagRequests(log, { project }, () => true)) {
    const line = await inSlices(log.reading(n));
    const made = line && answered(line);
    const id = made?.distinct_id ?? "";
    if (made?.asked) {
      const { asked: sent } = made;
      add(id, () => subjectOfRequest(id, sent));
    }
    const isAsked = made?.flags.some((it) => it.key === key) ?? false;
    if (isAsked && id !== "") asked.add(id);
    for (const use of line ? usesIn(line) : []) {
      add(use.distinctId, () => subjectOfEvent(use.event));
      if (use.call.key === key) asked.add(use.distinctId);
    }
    if (isAsked) lastAsked ??= made?.at;
    if (isSpent(log.sizeOf(n)) || subjects.size >= mostIds) {
      isAll = false;
      break;
    }
  }
  if (!isAll) return { subjects, asked, lastAsked, isAll };
  for await (const { event, size } of examineEvents(log, { project, outcome: "kept", order: "desc" })) {
    if (event) add(event.distinct_id, () => subjectOfEvent(event));
    if (isSpent(size) || subjects.size >= mostIds) {
      isAll = false;
      break;
    }
  }
  return { subjects, asked, lastAsked, isAll };
}
