import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { project, route } from "../../app/location.ts";
import { hrefTo } from "../../app/route.ts";
import { stat } from "../../feed/socket.ts";

interface Page {
  readonly events: readonly { readonly seq: number }[];
}

/** Numbers of the events beside one: in the list, of the same name, of the same person. */
export interface Neighbours {
  readonly newer: number | undefined;
  readonly older: number | undefined;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly personBefore: number | undefined;
  readonly personAfter: number | undefined;
}

type Which = Readonly<Record<string, string | number | undefined>>;

const projectOf = ({ project }: StoredEvent) => ({ project: project ?? undefined });

/** Query of events with the same name; undefined without a name. */
export const sameName = (event: StoredEvent): Which | undefined =>
  event.event === "" ? undefined : { ...projectOf(event), event: event.event };

const samePerson = (event: StoredEvent): Which | undefined => {
  if (event.person_id !== null) return { ...projectOf(event), filter: `person:${event.person_id}` };
  return event.distinct_id === "" ? undefined : { ...projectOf(event), distinct_id: event.distinct_id };
};

/** Path of the nearest event before or after; null for none. */
export const nearestPath = (seq: number, which: Which | undefined, order: "asc" | "desc"): string | null => {
  if (which === undefined || (order === "desc" && seq === 1)) return null;
  const range = order === "asc" ? { since: seq } : { until: seq - 1 };
  return `events${query({ ...which, ...range, order, limit: 1 })}`;
};

/** The nearest event; a later one is searched again as events arrive. */
function useNearest(seq: number, which: Which | undefined, order: "asc" | "desc"): number | undefined {
  const revision = order === "asc" ? stat.value?.events : undefined;
  return useResource<Page>(nearestPath(seq, which, order), { revision }).data?.events[0]?.seq;
}

export function useNeighbours(event: StoredEvent): Neighbours {
  const [name, person] = [sameName(event), samePerson(event)];
  const listed = { project: project.value, filter: route.value.params.f };
  return {
    newer: useNearest(event.seq, listed, "asc"),
    older: useNearest(event.seq, listed, "desc"),
    before: useNearest(event.seq, name, "desc"),
    after: useNearest(event.seq, name, "asc"),
    personBefore: useNearest(event.seq, person, "desc"),
    personAfter: useNearest(event.seq, person, "asc"),
  };
}

/** Address of another event, with the same tab. */
export const eventHref = (seq: number): string => hrefTo("events", [seq], route.value.params);

/** Address of a comparison (default: with the previous event of the same name). */
export const compareHref = (seq: number, other?: number): string => {
  const { tab: _, ...params } = route.value.params;
  return hrefTo("events", [seq, "compare", ...(other === undefined ? [] : [other])], params);
};
