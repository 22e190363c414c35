import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import {
  damagedSnapshot,
  folderStorage,
  type Kept,
  type Label,
  memoryStorage,
  type SnapshotFacts,
  type StoredSnapshot,
} from "./snapshot-storage.ts";

const nameShape = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?$/i;

/** Names that `isSnapshotName` accepts, in words. */
export const snapshotNameExpected =
  "1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first, no dot at the end";

/** True for valid names; a name becomes that of a folder. */
export const isSnapshotName = (name: unknown): name is string => typeof name === "string" && nameShape.test(name);

export function createSnapshots(kept: Kept) {
  const storage = kept.folder === null ? memoryStorage(kept) : folderStorage(kept, join(kept.folder, "snapshots"));
  const keyOf = (name: string) => name.toLowerCase();
  return {
    /** Oldest first. */
    list(): StoredSnapshot[] {
      const intact = [...storage.labels.values()].map((it) => ({ ...factsOf(it), damaged: null }));
      return [...intact, ...storage.damaged.values()].sort(
        (a, b) => (a.created_at ?? 0) - (b.created_at ?? 0) || (a.name < b.name ? -1 : 1),
      );
    },
    /** Takes a snapshot; replaces one with the same name. @throws the system's error */
    take(name: string, now: number) {
      if (!isSnapshotName(name)) throw new RangeError(`not a name of a snapshot: ${name}`);
      const journal = kept.log.mark();
      const { persons } = kept.people.counts();
      const label: Label = { name, created_at: now, persons, events: journal.events, journal };
      storage.put(keyOf(name), label);
      return factsOf(label);
    },
    /** Undefined for an unknown name. @throws DataFolderError, the system's error; then nothing has changed */
    async restore(name: string, settled: () => Promise<unknown> = turn) {
      const label = storage.labels.get(keyOf(name));
      const { damaged } = storage.damaged.get(keyOf(name)) ?? {};
      if (damaged) throw damagedSnapshot(name, damaged);
      if (!label) return undefined;
      const { world, people } = await storage.read(keyOf(name));
      try {
        // by then every answered request is in the journal
        await settled();
        const journal = kept.log.restoring(label.journal);
        kept.switchTo([kept.people.replacing(people), kept.worlds.replacing(world), journal]);
        return { ...factsOf(label), hasEvents: journal.hasEvents };
      } finally {
        people.close();
      }
    },
    /** @returns false for an unknown name */
    remove(name: string) {
      const exists = storage.labels.has(keyOf(name)) || storage.damaged.has(keyOf(name));
      if (exists) storage.remove(keyOf(name));
      return exists;
    },
    /** True without snapshots. Otherwise the journal may be hidden, but not emptied. */
    get isEmpty() {
      return storage.labels.size === 0;
    },
  };
}

/**
 * Named copies of documents, people, and the visible part of the journal. The journal only grows, so that a mark in
 * it is enough: a restored snapshot hides later entries and shows those that were hidden since.
 */
export type Snapshots = ReturnType<typeof createSnapshots>;

const factsOf = ({ name, created_at, persons, events }: Label): SnapshotFacts => ({
  name,
  created_at,
  persons,
  events,
});
