import type { ProjectFacts } from "../kind.ts";
import type { AskSim } from "./messages.ts";
import type { ProjectData } from "./project-data.ts";

function once<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    if (!known.has(key)) known.set(key, read(key));
    // it was set
    return known.get(key) as Value;
  };
}

/** Documents, persons and groups of the project of a query, as it asks for them. */
export function remoteFacts(
  ask: AskSim,
  data: ProjectData,
): Omit<ProjectFacts, "timeZone" | "weekStart" | "testAccountFilters"> {
  const members = once((id: number) => new Set(ask("members", id)));
  return {
    action: once((id) => ask("action", id)),
    experiment: once((id) => ask("experiment", id)),
    cohort: once((id) => {
      const name = ask("cohort", id);
      return name === undefined ? undefined : { name, has: (person) => members(id).has(person) };
    }),
    person: data.person,
    persons: () => data.persons(),
    groups: () => data.groups(),
  };
}
