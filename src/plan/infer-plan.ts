import { isSdkEvent, isSdkProperty } from "../kernel/sdk-properties.ts";
import { addObject, type Fields, newFields, objectSchema } from "./shape.ts";
import type { EventEntry, PlanFile, PlannableEvent } from "./types.ts";

export interface InferOptions {
  title?: string;
  /** Only the event of this name; the SDKs' own are looked at only then. */
  event?: string;
}

/** Collects what events have in common; its size does not grow with their number. */
export interface Inference {
  add(event: PlannableEvent): void;
  /** How many events were added, and how many of them were left out because there are too many names. */
  readonly added: number;
  readonly leftOut: number;
  plan(): PlanFile;
}

/** More events by name than this are no plan. */
const mostEvents = 1000;

export function createInference({ title, event: only }: InferOptions = {}): Inference {
  const events = new Map<string, Fields>();
  let [added, leftOut] = [0, 0];
  const isWanted = ({ event, outcome }: PlannableEvent): boolean =>
    outcome !== "dropped" &&
    event !== "__proto__" &&
    (only === undefined ? !isSdkEvent(event) : event === only);
  return {
    get added() {
      return added;
    },
    get leftOut() {
      return leftOut;
    },
    add(event) {
      if (!isWanted(event)) return;
      const fields = events.get(event.event) ?? (events.size < mostEvents ? newFields() : undefined);
      if (!fields) {
        leftOut += 1;
        return;
      }
      added += 1;
      events.set(event.event, fields);
      addObject(fields, event.properties, (name) => !isSdkProperty(name));
    },
    plan: () => ({
      version: 1,
      ...(title !== undefined && { title }),
      events: Object.fromEntries(
        [...events].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, fields]) => [name, entryOf(fields)]),
      ),
    }),
  };
}

/** An inferred event knows all its properties, unless there were too many to keep. */
const entryOf = (fields: Fields): EventEntry => ({
  ...objectSchema(fields),
  ...(!fields.isOverfull && { additionalProperties: false }),
});

/**
 * A plan that all the events fit: types of each property, unions, allowed values where they are few and came often,
 * formats that all fit; required is what was always there. The SDKs' own events and properties, and dropped
 * events, are left out. The result is a plan file's content; `JSON.stringify` writes it.
 */
export function inferPlan(events: Iterable<PlannableEvent>, options: InferOptions = {}): PlanFile {
  const inference = createInference(options);
  for (const event of events) inference.add(event);
  return inference.plan();
}

/**
 * A plan with what another knows besides: events it has not, and properties of events that both have. What it says
 * itself stays as it is; new properties of its events are not required.
 */
export function mergePlans(plan: PlanFile, other: PlanFile): PlanFile {
  const known = Object.entries(plan.events).map(([name, entry]): [string, EventEntry] => {
    const also = Object.hasOwn(other.events, name) ? other.events[name]?.properties : undefined;
    return [name, also ? withProperties(entry, also) : entry];
  });
  const fresh = Object.entries(other.events).filter(([name]) => !Object.hasOwn(plan.events, name));
  return { ...plan, events: Object.fromEntries([...known, ...fresh]) };
}

function withProperties(entry: EventEntry, also: NonNullable<EventEntry["properties"]>): EventEntry {
  const own = entry.properties ?? {};
  const fresh = Object.entries(also).filter(([name]) => !Object.hasOwn(own, name));
  if (fresh.length === 0) return entry;
  return { ...entry, properties: Object.fromEntries([...Object.entries(own), ...fresh]) };
}
