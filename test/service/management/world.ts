import { uuidV5 } from "../../../src/kernel/base/ids.ts";
import {
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankProject,
  blankUser,
} from "../../../src/state/documents/blank.ts";
import { emptyWorld, type PersonalApiKey, type World } from "../../../src/state/documents/world.ts";

export const startedAt = "2026-01-02T03:04:05Z";
export const uuidOf = (name: string): string => uuidV5("5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01", name);

export const acme = uuidOf("acme");
export const globex = uuidOf("globex");

/** Level in Acme, unless said otherwise. Each has a key `phx_<name>` that may do everything. */
const people = [
  { name: "ada", id: 1, organization: acme, level: 15, project: 1 },
  { name: "ben", id: 2, organization: acme, level: 8, project: 1 },
  { name: "cleo", id: 3, organization: acme, level: 1, project: 1 },
  { name: "dan", id: 4, organization: acme, level: 1, project: 2 },
  { name: "eve", id: 5, organization: globex, level: 15, project: 3 },
] as const;

/** Ada's further keys. */
const keys: (Pick<PersonalApiKey, "key" | "scopes"> & Partial<PersonalApiKey>)[] = [
  { key: "phx_reader", scopes: ["dashboard:read", "organization:read", "batch_export:read"] },
  { key: "phx_writer", scopes: ["dashboard:write", "batch_export:write"] },
  { key: "phx_nothing", scopes: [] },
  { key: "phx_project_1", scopes: ["*"], scoped_teams: [1] },
  { key: "phx_acme_only", scopes: ["*"], scoped_organizations: [acme] },
  { key: "phx_globex_only", scopes: ["*"], scoped_organizations: [globex] },
];

/** Two organizations: Acme with projects 1 and 2, Globex with project 3. */
export function twoOrganizations(): World {
  const world = emptyWorld();
  world.organizations = [
    blankOrganization({ id: acme, name: "Acme", slug: "acme" }, startedAt),
    blankOrganization({ id: globex, name: "Globex", slug: "globex" }, startedAt),
  ];
  world.projects = [
    { id: 1, organization: acme, name: "Acme web" },
    { id: 2, organization: acme, name: "Acme app" },
    { id: 3, organization: globex, name: "Globex web" },
  ].map((it) => blankProject({ ...it, uuid: uuidOf(`project ${it.id}`), api_key: `phc_project_${it.id}` }, startedAt));
  for (const { name, id, organization, level, project } of people) {
    const email = `${name}@example.test`;
    world.users.push(
      blankUser(
        { id, email, uuid: uuidOf(email), current_organization: organization, current_project: project },
        startedAt,
      ),
    );
    world.memberships.push(
      blankMembership({ id: uuidOf(`membership ${name}`), organization, user: id, level }, startedAt),
    );
    world.personal_api_keys.push(
      blankPersonalApiKey({ id: name, key: `phx_${name}`, user: id, scopes: ["*"] }, startedAt),
    );
  }
  world.personal_api_keys.push(...keys.map((it) => blankPersonalApiKey({ id: it.key, user: 1, ...it }, startedAt)));
  return world;
}
