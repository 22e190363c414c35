import type { JsonObject } from "../kernel/json.ts";
import type { Groups, Persons, SimPerson } from "./api.ts";
import type { Place } from "./call.ts";
import { ControlError } from "./errors.ts";
import { queryText } from "./query.ts";

const most = 10_000;

/** The persons' part of the client. */
export const personsBy = ({ call, project }: Place): Persons => ({
  list: async (query = {}) => {
    const path = `persons${queryText({ limit: most, ...query, project: project ?? query.project })}`;
    return (await call<{ persons: SimPerson[] }>("GET", path)).persons;
  },
  get: async (id) => {
    try {
      return await call<SimPerson & { history: JsonObject[] }>(
        "GET",
        `persons/${encodeURIComponent(id)}${queryText({ project })}`,
      );
    } catch (error) {
      if (error instanceof ControlError && error.code === "not_found") return undefined;
      throw error;
    }
  },
});

/** The groups' part of the client. */
export const groupsBy = ({ call, project }: Place): Groups => ({
  list: async (query = {}) => {
    const path = `groups${queryText({ limit: most, ...query, project: project ?? query.project })}`;
    return (await call<{ groups: JsonObject[] }>("GET", path)).groups;
  },
});
