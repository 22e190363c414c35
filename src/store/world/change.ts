import type { CollectionName, Draft, Worlds } from "../../model/world.ts";
import type { Id, Stored } from "./collection.ts";
import type { Step, WorldDocument } from "./document.ts";

/** What a change has done so far, and how to take it back. */
interface Running {
  steps: Step[];
  /** To be called in reverse. */
  undo: (() => void)[];
  /** Collections whose list is put back as a whole: their order is, too. */
  kept: Set<CollectionName>;
}

/** Makes changes, all or none of their steps; `commit` takes those of one that succeeded, and what takes them back. */
export function createChanger(
  world: WorldDocument,
  commit: (steps: readonly Step[], takeBack: () => void) => void,
): Worlds["change"] {
  let running: Running | undefined;

  function now(): Running {
    if (!running) throw new Error("a draft is of use only while `change` runs");
    return running;
  }

  function put(name: CollectionName, document: Stored): void {
    const { steps, undo } = now();
    const before = world.get(name, document.id);
    undo.push(() => (before ? world.put(name, before) : world.remove(name, document.id)));
    world.put(name, document);
    steps.push({ put: name, document });
  }

  function remove(name: CollectionName, id: Id): void {
    const { steps, undo, kept } = now();
    if (!world.get(name, id)) return;
    if (!kept.has(name)) {
      const before = world.list(name);
      undo.push(() => world.restore(name, before));
      kept.add(name);
    }
    world.remove(name, id);
    steps.push({ remove: name, id });
  }

  const draft: Draft = {
    put(collection, document) {
      put(collection, document);
      return document;
    },
    remove,
    nextId(sequence) {
      now();
      return world.nextId(sequence);
    },
  };

  function takeBack({ steps, undo }: Running): void {
    for (const step of undo.reverse()) step();
    const touchedProjects = steps.some((it) => ("put" in it ? it.put : it.remove) === "projects");
    if (touchedProjects) world.restore("projects", world.list("projects"));
  }

  return (edit) => {
    if (running) throw new Error("a change within a change");
    const mine: Running = { steps: [], undo: [], kept: new Set() };
    running = mine;
    try {
      const result = edit(draft);
      world.check();
      commit(mine.steps, () => takeBack(mine));
      return result;
    } catch (error) {
      takeBack(mine);
      throw error;
    } finally {
      running = undefined;
    }
  };
}
