import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { World } from "../model/world.ts";
import type { Bytes } from "./bytes.ts";
import type { PeopleStore } from "./people.ts";
import { damagedSnapshot, folderShelf } from "./snapshots/folder.ts";
import { memoryShelf } from "./snapshots/memory.ts";
import type { SwitchPart } from "./switch.ts";
import type { LogMark, TrafficLog } from "./traffic-log.ts";
import type { WorldStore } from "./world.ts";

/** What is told of a snapshot. */
export interface SnapshotFacts {
  name: string;
  /** ms since the epoch, by the sim's clock */
  created_at: number;
  /** Stored persons, and events that could be seen. */
  persons: number;
  events: number;
}

/** A snapshot in the list; of one whose label cannot be read no more is known than its name. */
export interface ListedSnapshot extends Pick<SnapshotFacts, "name"> {
  created_at: number | null;
  persons: number | null;
  events: number | null;
  /** Why it cannot be restored; null when it can. */
  damaged: string | null;
}

/** What a restored snapshot could not bring back. */
interface Restored extends SnapshotFacts {
  /** False when the journal was emptied since then: its events are gone. */
  hasEvents: boolean;
}

/**
 * Named copies of all that is kept: documents, people, and what could be seen of the journal. Of the journal
 * only a mark is kept, because it only grows: a restored snapshot hides what came later and shows again what
 * was hidden since.
 */
export interface Snapshots {
  /** Oldest first. */
  list(): ListedSnapshot[];
  /** Takes a snapshot, in the place of one with the same name. @throws the system's error */
  take(name: string, now: number): SnapshotFacts;
  /**
   * `settled` waits until no request is half handled.
   * @throws DataFolderError when its files are damaged, the system's error; then nothing has happened. Undefined: there is none.
   */
  restore(name: string, settled?: () => Promise<unknown>): Promise<Restored | undefined>;
  /** Returns whether there was one. */
  remove(name: string): boolean;
  /** Is there none? Else the journal may be hidden, but not be emptied. */
  readonly isEmpty: boolean;
}

/** What snapshots are taken of. */
export interface Kept {
  readonly worlds: WorldStore;
  readonly people: PeopleStore;
  readonly log: TrafficLog;
  readonly switchTo: (parts: readonly SwitchPart[]) => void;
  /** The data folder; null: snapshots stay in memory. */
  readonly folder: string | null;
}

/** A snapshot's parts besides its documents and people, which are read when it is restored. */
export interface Label extends SnapshotFacts {
  journal: LogMark;
}

/** Where snapshots are kept, by their names in lower case: files cannot be told apart by case everywhere. */
export interface Shelf {
  readonly labels: ReadonlyMap<string, Label>;
  /** Snapshots that cannot be restored: why, and as much as is known of them. */
  readonly damaged: ReadonlyMap<string, ListedSnapshot>;
  /** Keeps the documents and people as they are now. */
  put(key: string, label: Label): void;
  remove(key: string): void;
  read(key: string): Promise<{ world: World; people: Bytes }>;
}

const nameShape = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?$/i;

/** What `isSnapshotName` takes, in words. */
export const snapshotNameExpected =
  "1 to 64 letters, digits, dots, hyphens and underscores, with a letter or digit first and no dot last";

/** May a snapshot have the name? It becomes the name of a folder. */
export const isSnapshotName = (name: unknown): name is string =>
  typeof name === "string" && nameShape.test(name);

export function createSnapshots(kept: Kept): Snapshots {
  const shelf = kept.folder === null ? memoryShelf(kept) : folderShelf(kept, join(kept.folder, "snapshots"));
  const keyOf = (name: string) => name.toLowerCase();
  return {
    list() {
      const intact = [...shelf.labels.values()].map((it) => ({ ...factsOf(it), damaged: null }));
      return [...intact, ...shelf.damaged.values()].sort(
        (a, b) => (a.created_at ?? 0) - (b.created_at ?? 0) || (a.name < b.name ? -1 : 1),
      );
    },
    take(name, now) {
      if (!isSnapshotName(name)) throw new RangeError(`no name for a snapshot: ${name}`);
      const journal = kept.log.mark();
      const { persons } = kept.people.counts();
      const label: Label = { name, created_at: now, persons, events: journal.events, journal };
      shelf.put(keyOf(name), label);
      return factsOf(label);
    },
    async restore(name, settled = turn) {
      const label = shelf.labels.get(keyOf(name));
      const { damaged } = shelf.damaged.get(keyOf(name)) ?? {};
      if (damaged) throw damagedSnapshot(name, damaged);
      if (!label) return undefined;
      const { world, people } = await shelf.read(keyOf(name));
      try {
        // What has been handled is in the journal by then: nobody sees half a request.
        await settled();
        const journal = kept.log.restoring(label.journal);
        kept.switchTo([kept.people.replacing(people), kept.worlds.replacing(world), journal]);
        return { ...factsOf(label), hasEvents: journal.hasEvents };
      } finally {
        people.close();
      }
    },
    remove(name) {
      const isThere = shelf.labels.has(keyOf(name)) || shelf.damaged.has(keyOf(name));
      if (isThere) shelf.remove(keyOf(name));
      return isThere;
    },
    get isEmpty() {
      return shelf.labels.size === 0;
    },
  };
}

const factsOf = ({ name, created_at, persons, events }: Label): SnapshotFacts => ({
  name,
  created_at,
  persons,
  events,
});
