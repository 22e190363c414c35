import { envGroups } from "../kernel/env-names.ts";
import { SimError } from "../kernel/errors.ts";
import { pointerTo } from "../kernel/json-pointer.ts";
import { blankPersonalApiKey, blankProject } from "../model/blank.ts";
import { wireTime } from "../model/time.ts";
import type { Draft, MadeProject, PersonalApiKey, Project } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";
import { checkVariant, overrideWith } from "./flags/overrides.ts";
import { copyOf, nothingCopied } from "./project-copy.ts";
import { membersOf, storeMembers } from "./project-members.ts";

/** What somebody who makes a project may say; absent is the usual. */
export interface ProjectOrder {
  name: string | undefined;
  /** null: nothing is taken over. */
  like: Project | null;
  /** By the flag's key, for everybody. */
  flags: readonly (readonly [key: string, value: boolean | string])[];
}

/** A key that nobody has: the ids are unique across runs. */
const newKey = ({ ids }: ControlDesk, prefix: "phc_" | "phs_" | "phx_"): string =>
  prefix + ids.uuid().replaceAll("-", "");

/** Whose the project and its personal key are. @throws SimError conflict when the world has nobody */
function home({ worlds }: ControlDesk): { organization: string; user: number } {
  const { organizations, users } = worlds.current;
  const [organization] = organizations;
  const [user] = users;
  if (organization && user) return { organization: organization.id, user: user.id };
  throw new SimError("conflict", "a project needs an organization and a user, and the world lacks one", {
    hint: "reset the world, or start with a scenario that has both",
  });
}

/** Puts down what the project was made with, when it is made and when it is reset. */
export function putMade(draft: Draft, { feature_flags, cohorts, flag_overrides }: MadeProject): void {
  for (const it of cohorts) draft.put("cohorts", it);
  for (const it of feature_flags) draft.put("feature_flags", it);
  for (const it of flag_overrides) draft.put("flag_overrides", it);
}

function madeOf(desk: ControlDesk, draft: Draft, id: number, order: ProjectOrder): MadeProject {
  const { worlds, people } = desk;
  const { like, flags } = order;
  const numbers = { cohort: () => draft.nextId("cohorts"), flag: () => draft.nextId("feature_flags") };
  const copied = like ? copyOf(worlds.current, like, id, numbers) : nothingCopied;
  const api_key = newKey(desk, "phc_");
  return {
    after_request: desk.log.lastRequest,
    like: like?.id ?? null,
    name: order.name ?? `Project ${id}`,
    api_key,
    secret_api_key: newKey(desk, "phs_"),
    ...copied,
    ...membersOf(people, like?.id ?? id, copied.cohorts, id),
    group_types: like ? [...people.groupTypes(like.id)] : [],
    flag_overrides: flags.map(([key, value]) => {
      const flag = copied.feature_flags.find((it) => it.key === key && !it.deleted);
      checkVariant(flag, value, { pointer: pointerTo(["flags", key]), way: "" });
      return overrideWith(desk, { project: id, key, value });
    }),
  };
}

/** The project's document as it was made. */
export function projectOf(
  ephemeral: MadeProject,
  { id, uuid, organization }: Pick<Project, "id" | "uuid" | "organization">,
  at: string,
): Project {
  const { name, api_key, secret_api_key, timezone, settings, remote_config } = ephemeral;
  const own = { name, api_key, secret_api_key, timezone, settings, remote_config };
  return blankProject({ id, uuid, organization, ...own, ephemeral }, at);
}

/** A project and the key that was made with it. */
export interface NewProject {
  project: Project;
  key: PersonalApiKey;
}

function putProject(desk: ControlDesk, draft: Draft, order: ProjectOrder): NewProject {
  const { organization, user } = home(desk);
  const id = draft.nextId("projects");
  const at = wireTime(desk.clock.now());
  const made = madeOf(desk, draft, id, order);
  const given = { id, uuid: desk.ids.uuid(), organization };
  const project = draft.put("projects", projectOf(made, given, at));
  putMade(draft, made);
  const personal = { id: desk.ids.uuid(), key: newKey(desk, "phx_"), user, scopes: ["*"] };
  const limited = { ...personal, label: made.name, scoped_teams: [id] };
  return { project, key: draft.put("personal_api_keys", blankPersonalApiKey(limited, at)) };
}

/**
 * Makes a project for one test, in the first organization, with keys of its own. Of the template it has the
 * settings, flags and cohorts, the names of group types, and the stored members of static cohorts.
 * @throws SimError conflict without an organization or a user, invalid_input for a variant that a flag does not
 * have; the system's error, and then there is no project
 */
export function makeProject(desk: ControlDesk, order: ProjectOrder): NewProject {
  const made = desk.worlds.change((draft) => putProject(desk, draft, order));
  const { id, ephemeral } = made.project;
  if (ephemeral) storeMembers(desk.people, id, ephemeral);
  desk.log.commit();
  return made;
}

/** What an app needs to send to the project: `url` is the sim's address. */
export function accessTo({ project, key }: NewProject, url: string) {
  const { id, name, api_key, secret_api_key } = project;
  const access = { url, project_api_key: api_key, personal_api_key: key.key, project_id: id };
  const variables = envGroups(access, undefined).flatMap((group) => group.variables);
  return {
    id,
    name,
    api_key,
    secret_api_key,
    personal_api_key: key.key,
    host: url,
    env: Object.fromEntries(variables),
  };
}
