import type { Groups, Persons } from "../client/api.ts";
import { type HandleScope, queryText } from "../client/call.ts";
import { ControlError } from "../client/errors.ts";
import type { StoredGroupPage, StoredPersonPage, StoredPersonWithHistory } from "./shapes.ts";

const most = 10_000;

/** `sim.persons` */
export const personsBy = ({ call, project }: HandleScope): Persons => ({
  list: async (query = {}) => {
    const path = `persons${queryText({ limit: most, ...query, project: project ?? query.project })}`;
    return (await call<StoredPersonPage>("GET", path)).persons;
  },
  get: async (id) => {
    try {
      return await call<StoredPersonWithHistory>(
        "GET",
        `persons/${encodeURIComponent(id)}${queryText({ project })}`,
      );
    } catch (error) {
      if (error instanceof ControlError && error.code === "not_found") return undefined;
      throw error;
    }
  },
});

/** `sim.groups` */
export const groupsBy = ({ call, project }: HandleScope): Groups => ({
  list: async (query = {}) => {
    const path = `groups${queryText({ limit: most, ...query, project: project ?? query.project })}`;
    return (await call<StoredGroupPage>("GET", path)).groups;
  },
});
