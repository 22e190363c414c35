import type { Baseline, TestRecord } from "../baseline/record.ts";

/** What an app does not send any more. */
export interface Removed {
  readonly what: "event" | "property" | "person property" | "group property";
  readonly name: string;
  /** The event of a property, the type of a group; null for others. */
  readonly of: string | null;
}

/** Names that are sent: `event`, `property`, … with what they belong to. */
function sentIn(records: Iterable<TestRecord>): Map<string, Removed> {
  const sent = new Map<string, Removed>();
  const add = (what: Removed["what"], name: string, of: string | null): void => {
    const it: Removed = { what, name, of };
    sent.set(JSON.stringify(it), it);
  };
  for (const { events, identity } of records) {
    for (const [event, { properties }] of events) {
      add("event", event, null);
      for (const name of properties.keys()) {
        const [, onPerson] = /^\$set(?:_once)?\.(.+)$/.exec(name) ?? [];
        if (onPerson !== undefined) add("person property", onPerson, null);
        else if (!name.startsWith("$groups.")) add("property", name, event);
      }
    }
    for (const [call, { properties }] of identity) {
      const [, type] = /^group (.+)$/.exec(call) ?? [];
      for (const name of properties.keys())
        if (type === undefined) add("person property", name, null);
        else add("group property", name, type);
    }
  }
  return sent;
}

/**
 * What the tests of the first baseline send, and no test sends any more. Tests that did not run count as before,
 * unless the second baseline is complete. A removed event's properties are not listed.
 */
export function removedBetween(before: Baseline, after: Baseline, complete: boolean): Removed[] {
  const notRun = complete ? [] : [...before.tests].filter(([name]) => !after.tests.has(name));
  const still = sentIn([...after.tests.values(), ...notRun.map(([, it]) => it)]);
  const gone = [...sentIn(before.tests.values())].filter(([key]) => !still.has(key)).map(([, it]) => it);
  const events = new Set(gone.filter(({ what }) => what === "event").map(({ name }) => name));
  return gone.filter(({ what, of }) => what !== "property" || of === null || !events.has(of));
}
