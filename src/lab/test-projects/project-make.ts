import { SimError } from "../../kernel/base/errors.ts";
import { pointerTo } from "../../kernel/base/json.ts";
import { checkVariant, overrideWith } from "../../service/flags/overrides.ts";
import { blankPersonalApiKey, blankProject } from "../../state/documents/blank.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Cohort, Draft, MadeProject, PersonalApiKey, StoredProject } from "../../state/documents/world.ts";
import { personUuid } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import { envGroups } from "../egress/env-names.ts";
import type { ProjectPorts } from "./ports.ts";
import { copyOf, nothingCopied } from "./project-copy.ts";
import type { TestProject } from "./shapes.ts";

type Member = MadeProject["persons"][number];

/** A person as a member of another project; its uuid derives from the project and a distinct id. */
function memberOf(people: PersonStore, template: number, uuid: string, project: number): Member | undefined {
  const person = people.person(template, uuid);
  if (!person) return undefined;
  const distinct_ids = people.distinctIds(person);
  const { created_at, is_identified, properties } = person;
  const [first] = distinct_ids;
  const own = first === undefined ? uuid : personUuid(project, first);
  return { uuid: own, distinct_ids, created_at, is_identified, properties };
}

/** The stored members of the template's static cohorts, and the cohorts with the members' new uuids. */
function membersOf(
  people: PersonStore,
  template: number,
  cohorts: readonly Cohort[],
  project: number,
): { persons: Member[]; cohorts: Cohort[] } {
  const found = new Map<string, Member>();
  for (const uuid of cohorts.flatMap((it) => (it.is_static ? (it.persons ?? []) : []))) {
    const member = found.has(uuid) ? undefined : memberOf(people, template, uuid, project);
    if (member) found.set(uuid, member);
  }
  const named = (uuid: string): string => found.get(uuid)?.uuid ?? uuid;
  return {
    persons: [...found.values()],
    cohorts: cohorts.map((it) => (it.persons ? { ...it, persons: it.persons.map(named) } : it)),
  };
}

/** Stores the group types and persons that a project was made with; the project must not have any. */
export function storeMembers(
  people: PersonStore,
  project: number,
  { group_types, persons }: Pick<MadeProject, "group_types" | "persons">,
): void {
  for (const name of group_types) people.addGroupType(project, name);
  for (const { distinct_ids, ...person } of persons) {
    people.create({ ...person, project, version: 0 }, distinct_ids);
  }
}

interface NewProjectOrder {
  /** Default: `Project` and its id. */
  name: string | undefined;
  /** null: nothing is copied. */
  like: StoredProject | null;
  /** Over the copied ones. */
  settings: StoredProject["settings"];
  flags: readonly (readonly [key: string, value: boolean | string])[];
}

/** An unused key: ids are unique across runs. */
const newKey = ({ ids }: ProjectPorts, prefix: "phc_" | "phs_" | "phx_"): string =>
  prefix + ids.uuid().replaceAll("-", "");

/** The owners of the project and its personal key. @throws SimError conflict if the world has none */
function home({ worlds }: ProjectPorts): { organization: string; user: number } {
  const { organizations, users } = worlds.current;
  const [organization] = organizations;
  const [user] = users;
  if (organization && user) return { organization: organization.id, user: user.id };
  throw new SimError("conflict", "a project needs an organization and a user, and the world lacks one", {
    hint: "reset the world, or start with a scenario that has both",
  });
}

export function putMade(draft: Draft, made: MadeProject): void {
  const { feature_flags, cohorts, flag_overrides, resources = [] } = made;
  for (const it of cohorts) draft.put("cohorts", it);
  for (const it of feature_flags) draft.put("feature_flags", it);
  for (const it of flag_overrides) draft.put("flag_overrides", it);
  for (const it of resources) draft.put("resources", it);
}

function madeOf(ports: ProjectPorts, draft: Draft, id: number, order: NewProjectOrder): MadeProject {
  const { worlds, people } = ports;
  const { like, flags } = order;
  const numbers = { cohort: () => draft.nextId("cohorts"), flag: () => draft.nextId("feature_flags") };
  const copied = like ? copyOf(worlds.current, like, id, numbers) : nothingCopied;
  const api_key = newKey(ports, "phc_");
  return {
    after_request: ports.log.lastRequest,
    like: like?.id ?? null,
    name: order.name ?? `Project ${id}`,
    api_key,
    secret_api_key: newKey(ports, "phs_"),
    ...copied,
    settings: { ...copied.settings, ...order.settings },
    ...membersOf(people, like?.id ?? id, copied.cohorts, id),
    group_types: like ? [...people.groupTypes(like.id)] : [],
    flag_overrides: flags.map(([key, value]) => {
      const flag = copied.feature_flags.find((it) => it.key === key && !it.deleted);
      checkVariant(flag, value, { pointer: pointerTo(["flags", key]), way: "" });
      return overrideWith(ports, { project: id, key, value });
    }),
  };
}

export function projectOf(
  ephemeral: MadeProject,
  { id, uuid, organization }: Pick<StoredProject, "id" | "uuid" | "organization">,
  at: string,
): StoredProject {
  const { name, api_key, secret_api_key, timezone, settings, remote_config } = ephemeral;
  const own = { name, api_key, secret_api_key, timezone, settings, remote_config };
  return blankProject({ id, uuid, organization, ...own, ephemeral }, at);
}

interface NewProject {
  project: StoredProject;
  key: PersonalApiKey;
}

function putProject(ports: ProjectPorts, draft: Draft, order: NewProjectOrder): NewProject {
  const { organization, user } = home(ports);
  const id = draft.nextId("projects");
  const at = wireTime(ports.clock.now());
  const made = madeOf(ports, draft, id, order);
  const given = { id, uuid: ports.ids.uuid(), organization };
  const project = draft.put("projects", projectOf(made, given, at));
  putMade(draft, made);
  const personal = { id: ports.ids.uuid(), key: newKey(ports, "phx_"), user, scopes: ["*"] };
  const limited = { ...personal, label: made.name, scoped_teams: [id] };
  return { project, key: draft.put("personal_api_keys", blankPersonalApiKey(limited, at)) };
}

/**
 * Makes a project for one test, in the first organization, with keys of its own. It gets a copy of the template's
 * settings, flags, cohorts, group types, and stored members of static cohorts.
 * @throws SimError conflict without an organization or a user, invalid_input for an unknown variant of a flag; the
 * system's error, and then there is no project
 */
export function makeProject(ports: ProjectPorts, order: NewProjectOrder): NewProject {
  const made = ports.worlds.change((draft) => putProject(ports, draft, order));
  const { id, ephemeral } = made.project;
  if (ephemeral) storeMembers(ports.people, id, ephemeral);
  ports.log.commit();
  return made;
}

/** What an app needs to send to the project. @param url Address of the sim */
export function accessTo({ project, key }: NewProject, url: string): TestProject {
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
