import { uuidV5 } from "../../../kernel/base/ids.ts";
import { isObject, type Json, type JsonObject, own, textIn } from "../../../kernel/base/json.ts";
import {
  blankFeatureFlag,
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankProject,
  blankUser,
} from "../blank.ts";
import { resourceOf } from "../resources.ts";
import { emptyWorld, type StoredResource } from "../world.ts";

/** Makes a document of the next version; it may change what it is given. The new version number is set for it. */
export type Migration = (old: JsonObject) => JsonObject;

/** The migration at index i makes version i + 2 of the world document from version i + 1. */
export const migrations: readonly Migration[] = [withAccounts, withResources];

export class UnknownVersionError extends Error {
  readonly isNewer: boolean;

  constructor(found: unknown, newest: number) {
    const isNewer = typeof found === "number" && found > newest;
    super(
      isNewer
        ? `it has version ${found}, this phx-sim knows versions up to ${newest}`
        : `"version" must be a whole number from 1 to ${newest}`,
    );
    this.name = "UnknownVersionError";
    this.isNewer = isNewer;
  }
}

/** The document in the newest version. @throws UnknownVersionError if its version is newer than ours, or none at all */
export function migrate(document: JsonObject, steps: readonly Migration[] = migrations): JsonObject {
  const newest = steps.length + 1;
  const { version } = document;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1 || version > newest) {
    throw new UnknownVersionError(version, newest);
  }
  return steps
    .slice(version - 1)
    .reduce((current, step, i) => ({ ...step(current), version: version + i + 1 }), document);
}

/** Version 1 kept no times: this stands for "before version 2". */
const unknownTime = "2025-01-01T00:00:00Z";
const namespace = "0b0f6a0e-6d0c-4d0b-8a55-7d2d6c2d7f42";
const idOf = (name: string): string => uuidV5(namespace, name);

const developer = { id: 1, email: "dev@phx-sim.test" };

const objects = (list: Json | undefined): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** The objects of a list, each laid over what is new. What is wrong stays: the later check should name what people wrote. */
const filled = (list: Json | undefined, blank: (old: JsonObject, i: number) => object): Json =>
  Array.isArray(list) ? list.map((old, i) => (isObject(old) ? over(blank(old, i), old) : old)) : (list ?? []);

const over = (blank: object, old: JsonObject): JsonObject => ({ ...blank, ...old });

/** 1 → 2: users, memberships, dashboards and what else the management API knows. */
function withAccounts(old: JsonObject): JsonObject {
  const organizations = objects(old.organizations);
  return {
    ...over(emptyWorld(), old),
    users: [userOf(organizations, objects(old.projects))],
    organizations: filled(old.organizations, organizationOf),
    memberships: organizations.map((it) => membershipOf(textIn(it, "id"))),
    projects: filled(old.projects, projectOf),
    personal_api_keys: filled(old.personal_api_keys, keyOf),
    feature_flags: filled(old.feature_flags, () => blankFeatureFlag({ id: 0, project: 0, key: "" }, unknownTime)),
    cohorts: filled(old.cohorts, (_, i) => ({ id: highestId(objects(old.cohorts)) + 1 + i })),
  };
}

function userOf([organization]: JsonObject[], [project]: JsonObject[]): JsonObject {
  const id = project && own(project, "id");
  const user = blankUser(
    {
      ...developer,
      uuid: idOf(developer.email),
      current_organization: organization ? textIn(organization, "id") : null,
      current_project: typeof id === "number" ? id : null,
    },
    unknownTime,
  );
  return { ...user };
}

/** The position keeps the slugs of organizations with the same name apart. */
function organizationOf(old: JsonObject, i: number): object {
  const name = textIn(old, "name");
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return blankOrganization({ id: "", name, slug: i === 0 ? slug : `${slug}-${i + 1}` }, unknownTime);
}

const membershipOf = (organization: string): JsonObject => ({
  ...blankMembership(
    { id: idOf(`membership:${organization}`), organization, user: developer.id, level: 15 },
    unknownTime,
  ),
});

const projectOf = (old: JsonObject): object =>
  blankProject(
    { id: 0, uuid: idOf(`project:${own(old, "id")}`), organization: "", name: "", api_key: textIn(old, "api_key") },
    unknownTime,
  );

const keyOf = (old: JsonObject): object => {
  const key = textIn(old, "key");
  return blankPersonalApiKey({ id: idOf(`key:${key}`), key, user: developer.id, scopes: [] }, unknownTime);
};

const formerLists = {
  surveys: "surveys",
  early_access_features: "early_access_features",
  web_experiments: "experiments",
} as const;

/** 2 → 3: surveys, early access features and web experiments are resources, like actions and others. */
function withResources(old: JsonObject): JsonObject {
  const { surveys: _s, early_access_features: _e, web_experiments: _w, ...rest } = old;
  const resources = Object.entries(formerLists).flatMap(([list, kind]) =>
    objects(old[list]).map((it, i) => resourceFrom(it, kind, `${list} ${i}`)),
  );
  return { ...over(emptyWorld(), rest), resources: resources as unknown as Json };
}

function resourceFrom({ project, id, ...fields }: JsonObject, kind: string, name: string): StoredResource {
  const key = typeof id === "number" || (typeof id === "string" && id !== "") ? id : idOf(name);
  const own = kind === "experiments" ? { ...fields, type: "web" } : fields;
  return resourceOf(kind, typeof project === "number" ? project : 0, key, own);
}

const highestId = (documents: readonly JsonObject[]): number =>
  documents.reduce((highest, it) => {
    const id = own(it, "id");
    return typeof id === "number" ? Math.max(highest, id) : highest;
  }, 0);
