import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { pathNumber } from "../../kernel/http/control-body.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { SwitchPart } from "../../kernel/store/switch.ts";
import type { TrafficLog } from "./log/traffic-log.ts";
import { ClearQuery } from "./query-shapes.ts";
import { searchEvents } from "./search.ts";
import { Cursor, StoredEvent } from "./stored-event.ts";

export interface EventPorts {
  readonly log: TrafficLog;
  readonly snapshots: { list(): readonly { readonly name: string }[] };
  /** Replaces this state with another, whole or not at all. @throws the system's error */
  switchTo(parts: readonly SwitchPart[]): void;
}

const Cleared = z
  .strictObject({ cleared: z.int().describe("Number of cleared events"), cursor: Cursor })
  .meta({ title: "Cleared" });

function compact({ log, snapshots, switchTo }: EventPorts, project: number | undefined): number {
  if (project !== undefined)
    throw new SimError("invalid_input", "compact=true deletes the requests of all projects", {
      pointer: "?project",
      hint: "leave out project, or leave out compact to hide the events of one project",
    });
  const names = snapshots.list().map((it) => it.name);
  if (names.length > 0)
    throw new SimError("conflict", `snapshots need these events: ${names.join(", ")}`, {
      hint: "delete the snapshots first (DELETE /__sim/snapshots/{name}), or clear without compact",
    });
  const { events } = log.counts();
  switchTo([log.replacing([], false)]);
  return events;
}

/** The endpoints that clear events, and return one. Lists and searches are rows of assertions (src/lab/assert). */
export const eventSlice = slice(["log", "snapshots", "switchTo"], (ports: EventPorts) => [
  row({
    method: "DELETE",
    path: "/__sim/events",
    access: "control",
    summary: "Clears the events of one project or of all; persons stay, and numbering continues",
    query: ClearQuery,
    errors: [409],
    reply: Cleared,
    handle({ query: { project, compact: isCompact = false } }) {
      const cleared = isCompact ? compact(ports, project) : ports.log.clearEvents(project);
      return { cleared, cursor: ports.log.lastSeq };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/events/:seq",
    access: "control",
    summary: "Returns one event by its seq",
    errors: [404],
    reply: StoredEvent,
    async handle({ call }) {
      const seq = pathNumber(call, "seq", "event");
      for await (const event of searchEvents(ports.log, { since: seq - 1, until: seq })) return event;
      throw new SimError("not_found", `there is no event ${seq}`);
    },
  }),
]);
