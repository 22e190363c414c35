import type { CollectionName, Dashboard, SequenceName } from "../../model/world.ts";
import type { Stored } from "./collection.ts";

type Numbered = readonly [sequence: SequenceName, number: number];

/** Numbers that are never used again: the highest of each kind that was ever given out or seen. */
export interface Sequences {
  /** The next number; `documents` are those of the collection that has the numbers. */
  next(sequence: SequenceName, documents: () => readonly Stored[]): number;
  /** Its numbers are taken, also when the document goes. */
  saw(collection: CollectionName, document: Stored): void;
  /** What grew since it was last asked. */
  grown(): Record<string, number>;
  /** Takes over what `grown` returned at another time. */
  raise(highest: Readonly<Record<string, number>>): void;
  /** All that is known, as world.json keeps it. */
  known(): Record<string, number>;
}

const numberOf =
  (sequence: SequenceName) =>
  ({ id }: Stored): readonly Numbered[] =>
    typeof id === "number" ? [[sequence, id]] : [];

/** The numbers in a document, by its collection. */
const numbersIn: Partial<Record<CollectionName, (document: Stored) => readonly Numbered[]>> = {
  users: numberOf("users"),
  projects: numberOf("projects"),
  dashboards: (document) => [
    ...numberOf("dashboards")(document),
    // The collection's name says what it is.
    ...(document as Dashboard).tiles.flatMap(({ id, text }): Numbered[] =>
      text
        ? [
            ["tiles", id],
            ["texts", text.id],
          ]
        : [["tiles", id]],
    ),
  ],
  insights: numberOf("insights"),
  feature_flags: numberOf("feature_flags"),
  cohorts: numberOf("cohorts"),
  batch_export_logs: numberOf("batch_export_logs"),
};

/** The collection whose documents have the numbers. */
export const collectionOf = (sequence: SequenceName): CollectionName =>
  sequence === "tiles" || sequence === "texts" ? "dashboards" : sequence;

export function createSequences(read: () => Readonly<Record<string, number>>): Sequences {
  let highest: Map<string, number> | undefined;
  let changed = new Set<string>();
  /** Collections whose documents were all looked at. */
  const scanned = new Set<CollectionName>();

  function all(): Map<string, number> {
    highest ??= new Map(Object.entries(read()));
    return highest;
  }

  function raiseTo(sequence: string, number: number): void {
    if (number <= (all().get(sequence) ?? 0)) return;
    all().set(sequence, number);
    changed.add(sequence);
  }

  function saw(collection: CollectionName, document: Stored): void {
    for (const [sequence, number] of numbersIn[collection]?.(document) ?? []) raiseTo(sequence, number);
  }

  return {
    saw,
    next(sequence, documents) {
      const collection = collectionOf(sequence);
      if (!scanned.has(collection)) for (const document of documents()) saw(collection, document);
      scanned.add(collection);
      const number = (all().get(sequence) ?? 0) + 1;
      raiseTo(sequence, number);
      return number;
    },
    grown() {
      const names = [...changed];
      changed = new Set();
      return Object.fromEntries(names.map((name) => [name, all().get(name) ?? 0]));
    },
    raise(given) {
      for (const [sequence, number] of Object.entries(given)) raiseTo(sequence, number);
    },
    known: () => Object.fromEntries(all()),
  };
}
