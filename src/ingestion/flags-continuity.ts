import type { CompiledFlag } from "../flags/compile.ts";
import type { Ruleset } from "../flags/ruleset.ts";
import type { People } from "../model/people.ts";
import type { Person } from "../model/person.ts";

/** The persons of the ids, each once. */
function personsOf(people: People, project: number, ids: readonly string[]): Person[] {
  const found = new Map<string, Person>();
  for (const id of ids) {
    const person = people.personOf(project, id);
    if (person) found.set(person.uuid, person);
  }
  return [...found.values()];
}

/**
 * Stores what a person who has just been identified was hashed by before: for every continuity flag of the
 * project that none of the two ids' persons has a key for, both get the anonymous id. Nothing happens when
 * no flag of the request needs it, or nobody is there. Upstream PostHog rust/feature-flags,
 * flag_matching_utils (set_feature_flag_hash_key_overrides).
 */
export function keepContinuity(
  people: People,
  { flags }: Ruleset,
  project: number,
  ids: { readonly distinctId: string; readonly anonymousId: string },
  isAsked: (flag: CompiledFlag) => boolean,
): void {
  const continuous = flags.filter((it) => it.isContinuous);
  if (!continuous.some(isAsked)) return;
  const persons = personsOf(people, project, [ids.distinctId, ids.anonymousId]);
  const stored = persons.map((person) => people.hashKeysOf(person));
  const lacking = continuous.filter(({ flag }) => !stored.some((keys) => keys.has(flag.key)));
  if (lacking.length === 0) return;
  const keys = new Map(lacking.map(({ flag }) => [flag.key, ids.anonymousId]));
  for (const person of persons) people.addHashKeys(person, keys);
}
