import type { Decision, FlagValue } from "./answers.ts";
import { valueText } from "./value.ts";

/** How often a flag had a value. */
interface ValueCount {
  readonly value: FlagValue | null;
  /** In answers, or found by an SDK. */
  readonly served: number;
  /** Used by an app, as it says with `$feature_flag_called`. */
  readonly called: number;
}

/** What a flag was lately: its values, the most frequent first. */
export interface Tally {
  readonly served: number;
  readonly called: number;
  /** Uses with another value than was decided. */
  readonly differing: number;
  readonly values: readonly ValueCount[];
}

export const noTally: Tally = { served: 0, called: 0, differing: 0, values: [] };

interface Counting {
  differing: number;
  /** By the value's text: true and "true" are two. */
  readonly values: Map<string, { value: FlagValue | null; served: number; called: number }>;
}

const flagId = (project: number | null, key: string): string => `${project ?? ""}/${key}`;

function createCounts() {
  const flags = new Map<string, Counting>();
  const of = (id: string): Counting => {
    const known = flags.get(id) ?? { differing: 0, values: new Map() };
    flags.set(id, known);
    return known;
  };
  return {
    flags,
    of,
    add(id: string, value: FlagValue | null, what: "served" | "called"): void {
      const { values } = of(id);
      const text = valueText(value);
      const row = values.get(text) ?? { value, served: 0, called: 0 };
      row[what]++;
      values.set(text, row);
    },
  };
}

function tallied({ differing, values }: Counting): Tally {
  const rows = [...values.values()].sort((a, b) => b.served - a.served || b.called - a.called);
  const sum = (what: "served" | "called") => rows.reduce((all, it) => all + it[what], 0);
  return { served: sum("served"), called: sum("called"), differing, values: rows };
}

/** Counts decisions by flag. */
export function tallyOf(decisions: readonly Decision[]): (project: number, key: string) => Tally {
  const counts = createCounts();
  for (const { project, flags, called } of decisions) {
    for (const { key, value } of flags) counts.add(flagId(project, key), value, "served");
    for (const { key, response, differs } of called) {
      const id = flagId(project, key);
      counts.add(id, response, "called");
      if (differs) counts.of(id).differing++;
    }
  }
  const tallies = new Map(Array.from(counts.flags, ([id, it]) => [id, tallied(it)]));
  return (project, key) => tallies.get(flagId(project, key)) ?? noTally;
}
