import type { World } from "../../model/world.ts";
import { type Bytes, memoryBytes } from "../bytes.ts";
import type { Kept, Label, Shelf } from "../snapshots.ts";

interface Held {
  label: Label;
  world: World;
  people: Buffer;
}

/** Snapshots in memory. Documents are replaced, never changed: a snapshot shares them with the world. */
export function memoryShelf({ worlds, people }: Pick<Kept, "worlds" | "people">): Shelf {
  const held = new Map<string, Held>();
  const labels = new Map<string, Label>();
  return {
    labels,
    damaged: new Map(),
    put(key, label) {
      const lines = memoryBytes();
      people.copyInto(lines);
      // The lists of the view are those of this moment; a change makes new ones.
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
