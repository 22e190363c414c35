import type { AppOptions } from "../kernel/http/app.ts";
import type { Call } from "../kernel/http/call.ts";
import type { Gauge } from "../kernel/http/gauge.ts";
import { partitionOf } from "../lab/faults/call-facts.ts";
import type { CallOwners } from "../service/capture/call-owner.ts";
import type { Desk } from "../service/capture/desk.ts";
import { idInHeader } from "../service/capture/project.ts";
import { type EventsText, entryWriter, eventsText } from "../state/journal/log/traffic-entry.ts";
import type { TrafficLog } from "../state/journal/log/traffic-log.ts";
import { isUnmatched } from "../state/journal/unmatched.ts";

interface JournalingParts {
  desk: Desk;
  owners: CallOwners;
  gauge: Gauge;
  log: TrafficLog;
}

export function journalTo({ desk, owners, gauge, log }: JournalingParts): AppOptions["journal"] {
  const entryOf = entryWriter();
  return (call, reply) => {
    const { record } = call;
    // Rejected before a handler found the project.
    record.project ??= isUnmatched(record) ? owners.ofUnmatched(call) : (idInHeader(desk, call) ?? null);
    const partition = partitionOf(call.headers);
    if (partition !== undefined) record.partition = partition;
    gauge.setProject(call.ticket, record.project);
    const append = (events: EventsText) => {
      log.append(entryOf(call, reply, record, events));
      if (record.keys) desk.underway.delete(record.keys);
      return log.written();
    };
    const events = eventsText(record.events);
    return events instanceof Promise ? events.then(append) : append(events);
  };
}

/** Until a delayed request is answered, and journaled, it would count as a request of every project. */
export const reportingProject =
  (gauge: Pick<Gauge, "setProject">, { owner }: Pick<CallOwners, "owner">) =>
  (call: Call): void => {
    const project = owner(call);
    if (project !== null) gauge.setProject(call.ticket, project);
  };
