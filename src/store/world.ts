import type { World, Worlds } from "../model/world.ts";

// The lead's placeholder so that the sim runs: the store part replaces this file.
export interface WorldStore extends Worlds {
  replace(world: World): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld({ seedWorld }: { folder?: string | undefined; seedWorld: () => World }): Promise<WorldStore> {
  let current = seedWorld();
  return {
    get current() {
      return current;
    },
    projectByKey: (key) => current.projects.find((it) => it.api_key === key),
    projectById: (id) => current.projects.find((it) => it.id === id),
    change: (edit) => edit(current),
    replace(world) {
      current = world;
    },
    async flush() {},
    async close() {},
  };
}
