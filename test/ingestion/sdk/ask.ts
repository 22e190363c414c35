import type { Desk } from "../../../src/model/desk.ts";
import type { People } from "../../../src/model/people.ts";
import { emptyWorld, type World } from "../../../src/model/world.ts";
import { aProject, deskOf } from "../ask.ts";

export { type Asked, aCall, aProject, asker } from "../ask.ts";

/** A world with one project, unless said otherwise. */
export const aWorld = (more: Partial<World> = {}): World => ({
  ...emptyWorld(),
  projects: [aProject()],
  ...more,
});

/** These endpoints know no persons: touching them is a mistake. */
const noPeople = new Proxy({} as People, {
  get: (_target, name) => {
    throw new Error(`people.${String(name)} was used`);
  },
});

export const aDesk = (world: World = aWorld()): Desk => deskOf(world, noPeople);
