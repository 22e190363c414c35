import type { LogMark, TrafficLog } from "../../journal/log/traffic-log.ts";
import type { PeopleStore } from "../../people/people-store.ts";
import { type Bytes, memoryBytes } from "../../store/bytes.ts";
import type { SwitchPart } from "../../store/switch.ts";
import type { World } from "../../world/world.ts";
import type { WorldStore } from "../../world/world-store.ts";

const nameShape = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?$/i;

/** Names that `isSnapshotName` accepts, in words. */
export const snapshotNameExpected =
  "1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first, no dot at the end";

/** True for valid names; a name becomes that of a folder. */
export const isSnapshotName = (name: unknown): name is string =>
  typeof name === "string" && nameShape.test(name);

export interface SnapshotFacts {
  name: string;
  /** ms since the epoch, by the sim's clock */
  created_at: number;
  /** Stored persons, and visible events. */
  persons: number;
  events: number;
}

/** A snapshot of the shelf; if its label cannot be read, only the name is known. */
export interface ShelvedSnapshot extends Pick<SnapshotFacts, "name"> {
  created_at: number | null;
  persons: number | null;
  events: number | null;
  /** Why it cannot be restored; null if it can. */
  damaged: string | null;
}

/** What a snapshot copies. */
export interface Kept {
  readonly worlds: WorldStore;
  readonly people: PeopleStore;
  readonly log: TrafficLog;
  readonly switchTo: (parts: readonly SwitchPart[]) => void;
  /** The data folder; null: snapshots stay in memory. */
  readonly folder: string | null;
}

/** A snapshot without its documents and people, which are read on restore. */
export interface Label extends SnapshotFacts {
  journal: LogMark;
}

/** Storage of snapshots, by names in lower case: file systems may ignore case. */
export interface SnapshotFiles {
  readonly labels: ReadonlyMap<string, Label>;
  /** Snapshots that cannot be restored, with the reason. */
  readonly damaged: ReadonlyMap<string, ShelvedSnapshot>;
  /** Stores the current documents and people. */
  put(key: string, label: Label): void;
  remove(key: string): void;
  read(key: string): Promise<{ world: World; people: Bytes }>;
}

interface Held {
  label: Label;
  world: World;
  people: Buffer;
}

/** Snapshots in memory. Documents are replaced, never changed: a snapshot shares them with the world. */
export function memoryShelf({ worlds, people }: Pick<Kept, "worlds" | "people">): SnapshotFiles {
  const held = new Map<string, Held>();
  const labels = new Map<string, Label>();
  return {
    labels,
    damaged: new Map(),
    put(key, label) {
      const lines = memoryBytes();
      people.copyInto(lines);
      // changes replace the lists, so that these stay as they are
      const world = { ...worlds.current } as World;
      held.set(key, { label, world, people: lines.read(0, lines.size) });
      labels.set(key, label);
    },
    remove(key) {
      held.delete(key);
      labels.delete(key);
    },
    read(key) {
      const found = held.get(key);
      if (!found) throw new Error(`no snapshot ${key}`);
      return Promise.resolve({ world: found.world, people: bytesOf(found.people) });
    },
  };
}

function bytesOf(buffer: Buffer): Bytes {
  const bytes = memoryBytes();
  if (buffer.length > 0) bytes.append(buffer);
  return bytes;
}
