import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import { knownOptions } from "../../kernel/call/option-keys.ts";
import type {
  GroupListQuery,
  PersonListQuery,
  StoredGroup,
  StoredGroupPage,
  StoredPerson,
  StoredPersonPage,
  StoredPersonWithHistory,
} from "./shapes.ts";

/** A person with its merged ids and its properties. */
export type SimPerson = StoredPerson;

export interface Persons {
  /** Newest first. */
  list(query?: PersonListQuery): Promise<SimPerson[]>;
  /** By uuid or distinct id, with the events that changed it; undefined if it does not exist. */
  get(id: string): Promise<StoredPersonWithHistory | undefined>;
}

export interface Groups {
  /** Newest first. */
  list(query?: GroupListQuery): Promise<StoredGroup[]>;
}

const most = 10_000;

export const personsBy = ({ call, project }: HandleScope): Persons =>
  personOptions({
    list: async (query = {}) => {
      const path = `persons${queryText({ limit: most, ...query, project: project ?? query.project })}`;
      return (await call<StoredPersonPage>("GET", path)).persons;
    },
    get: async (id) => {
      try {
        return await call<StoredPersonWithHistory>("GET", `persons/${encodeURIComponent(id)}${queryText({ project })}`);
      } catch (error) {
        if (error instanceof ControlError && error.code === "not_found") return undefined;
        throw error;
      }
    },
  });

export const groupsBy = ({ call, project }: HandleScope): Groups =>
  groupOptions({
    list: async (query = {}) => {
      const path = `groups${queryText({ limit: most, ...query, project: project ?? query.project })}`;
      return (await call<StoredGroupPage>("GET", path)).groups;
    },
  });

const personOptions = knownOptions<Persons>("persons", { list: [{ except: [] }] });
const groupOptions = knownOptions<Groups>("groups", { list: [{ except: [] }] });
