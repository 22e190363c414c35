import type { CollectionName, Dashboard, DocumentSequence, SequenceName, StoredResource } from "../world.ts";

interface Numerable {
  readonly id: unknown;
}

type Numbered = readonly [sequence: SequenceName, number: number];

const numberOf =
  (sequence: SequenceName) =>
  ({ id }: Numerable): readonly Numbered[] =>
    typeof id === "number" ? [[sequence, id]] : [];

const numbersIn: Partial<Record<CollectionName, (document: Numerable) => readonly Numbered[]>> = {
  users: numberOf("users"),
  projects: numberOf("projects"),
  dashboards: (document) => [
    ...numberOf("dashboards")(document),
    // The collection determines the type.
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
  resources: (document) => {
    const { kind, key } = document as StoredResource;
    return typeof key === "number" ? [[`resources/${kind}`, key]] : [];
  },
};

export const collectionOf = (sequence: SequenceName): CollectionName =>
  isOfResources(sequence) ? "resources" : sequence === "tiles" || sequence === "texts" ? "dashboards" : sequence;

const isOfResources = (sequence: SequenceName): sequence is Exclude<SequenceName, DocumentSequence> =>
  sequence.startsWith("resources/");

/** Numbers are never used twice: the highest number of each kind that was ever assigned or seen. */
export class Sequences {
  readonly #highest: Map<string, number>;
  readonly #changed = new Set<string>();
  readonly #scanned = new Set<CollectionName>();

  constructor(highest: Readonly<Record<string, number>>) {
    this.#highest = new Map(Object.entries(highest));
  }

  next(sequence: SequenceName, documents: () => readonly Numerable[]): number {
    const collection = collectionOf(sequence);
    if (!this.#scanned.has(collection)) for (const document of documents()) this.see(collection, document);
    this.#scanned.add(collection);
    const number = (this.#highest.get(sequence) ?? 0) + 1;
    this.#raise(sequence, number);
    return number;
  }

  see(collection: CollectionName, document: Numerable): void {
    for (const [sequence, number] of numbersIn[collection]?.(document) ?? []) this.#raise(sequence, number);
  }

  grown(): Record<string, number> {
    const names = [...this.#changed];
    this.#changed.clear();
    return Object.fromEntries(names.map((name) => [name, this.#highest.get(name) ?? 0]));
  }

  raise(highest: Readonly<Record<string, number>>): void {
    for (const [sequence, number] of Object.entries(highest)) this.#raise(sequence, number);
  }

  known(): Record<string, number> {
    return Object.fromEntries(this.#highest);
  }

  #raise(sequence: string, number: number): void {
    if (number <= (this.#highest.get(sequence) ?? 0)) return;
    this.#highest.set(sequence, number);
    this.#changed.add(sequence);
  }
}
