import type { World } from "../../../../src/state/documents/world.ts";
import type { PersonData } from "../../../../src/state/persons/person-data.ts";
import { aMembership, aProject, aWorld as worldOf } from "../../../support/documents.ts";
import { deskOf } from "../endpoint/ask.ts";

export { type Asked, aCall, asker } from "../endpoint/ask.ts";

/** A world with one project and its member. */
export const aWorld = (more: Partial<World> = {}): World =>
  worldOf({ projects: [aProject()], memberships: [aMembership()], ...more });

/** These endpoints know no persons: touching them is a mistake. */
const noPersons = new Proxy({} as PersonData, {
  get: (_target, name) => {
    throw new Error(`people.${String(name)} was used`);
  },
});

export const aDesk = (world: World = aWorld()) => deskOf(world, noPersons);
