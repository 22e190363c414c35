import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { pathOf } from "../../tapes/format/routes.ts";
import type { How, Kind, Sighting } from "./types.ts";

interface Row {
  pattern: RegExp;
  kind: Kind;
}

const inProject = "^/api/(?:projects|environments)/(?<project>[^/]+)";
const nouns = "dashboards|insights|feature_flags|cohorts|batch_exports|persons";

const rows: readonly Row[] = [
  { pattern: /^\/api\/users\/@me$/, kind: "users" },
  { pattern: /^\/api\/organizations(?:\/[^/]+)?$/, kind: "organizations" },
  {
    pattern: /^\/api\/(?:organizations\/(?<organization>[^/]+)\/)?(?:projects|environments)(?:\/[^/]+)?$/,
    kind: "projects",
  },
  ...nouns
    .split("|")
    .map((noun) => ({ pattern: new RegExp(`${inProject}/${noun}(?:/[^/]+)?$`), kind: noun as Kind })),
  { pattern: /^\/api\/organizations\/[^/]+\/batch_exports(?:\/[^/]+)?$/, kind: "batch_exports" },
];

/** JSON of an exchange's request or answer, where there is some. */
export const jsonOf = (side: Exchange["req"] | Exchange["res"]): Json | undefined =>
  side?.body !== undefined && "json" in side.body ? side.body.json : undefined;

const howOf: Readonly<Record<string, How>> = {
  GET: "read",
  POST: "made",
  PUT: "changed",
  PATCH: "changed",
  DELETE: "gone",
};

/** The documents that an exchange shows, makes, changes or takes away. */
export function sightingsIn(exchange: Exchange): Sighting[] {
  const { req, res } = exchange;
  if (res === null || !exchange.complete || res.status < 200 || res.status >= 300) return [];
  const path = pathOf(req.url);
  const how = howOf[req.method.toUpperCase()];
  const found = how && rows.find(({ pattern }) => pattern.test(path));
  if (!how || !found) return [];
  const { project, organization } = found.pattern.exec(path)?.groups ?? {};
  if (how === "gone") return gone(found.kind, path.split("/").at(-1) ?? "", project);
  const set = how === "changed" ? keysOf(jsonOf(req)) : undefined;
  return documentsIn(jsonOf(res)).flatMap((it) =>
    documentSightings(found.kind, it, {
      how: isRemoval(it, how) ? "gone" : how,
      ...(project !== undefined && { project }),
      ...(organization !== undefined && { organization }),
      ...(set && { set }),
    }),
  );
}

const gone = (kind: Kind, id: string, project: string | undefined): Sighting[] => [
  { kind, id, how: "gone", fields: new Map(), ...(project !== undefined && { project }) },
];

const isRemoval = (it: JsonObject, how: How): boolean => how === "changed" && own(it, "deleted") === true;

const keysOf = (body: Json | undefined): ReadonlySet<string> =>
  new Set(isObject(body) ? Object.keys(body) : []);

/** A page's documents, a list's, or the one. */
function documentsIn(body: Json | undefined): JsonObject[] {
  const all = isObject(body) ? (own(body, "results") ?? [body]) : (body ?? []);
  return Array.isArray(all) ? all.filter(isObject) : [];
}

interface Circumstances {
  how: How;
  project?: string;
  organization?: string;
  set?: ReadonlySet<string>;
}

const textOr = (value: Json | undefined): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

/** The document with those that it has in it. */
function documentSightings(kind: Kind, it: JsonObject, near: Circumstances): Sighting[] {
  const id = textOr(kind === "users" ? own(it, "email") : (own(it, "id") ?? own(it, "uuid")));
  if (id === undefined) return [];
  const project = kind === "projects" ? undefined : (textOr(own(it, "team_id")) ?? near.project);
  const fields = new Map(Object.entries(it));
  if (kind === "projects" && near.organization) fields.set("organization", near.organization);
  const sighting: Sighting = {
    kind,
    id,
    how: near.how,
    fields,
    ...(project !== undefined && { project }),
    ...(near.set && { set: near.set }),
  };
  return [...(inner[kind]?.(it, project) ?? []), sighting, ...userIn(own(it, "created_by"))];
}

const read = (kind: Kind, it: Json | undefined, project?: string, organization?: string): Sighting[] =>
  isObject(it)
    ? documentSightings(kind, it, {
        how: "read",
        ...(project !== undefined && { project }),
        ...(organization !== undefined && { organization }),
      })
    : [];

const userIn = (it: Json | undefined): Sighting[] => read("users", it);

const listIn = (it: JsonObject, key: string): Json[] => {
  const list = own(it, key);
  return Array.isArray(list) ? list : [];
};

/** Documents within documents. */
const inner: Partial<Record<Kind, (it: JsonObject, project: string | undefined) => Sighting[]>> = {
  users: (it) => {
    const organization = own(it, "organization");
    const id = isObject(organization) ? textOr(own(organization, "id")) : undefined;
    return [
      ...listIn(it, "organizations").flatMap((its) => read("organizations", its)),
      ...read("organizations", organization),
      ...read("projects", own(it, "team"), undefined, id),
    ];
  },
  organizations: (it) =>
    [...listIn(it, "projects"), ...listIn(it, "teams")].flatMap((its) =>
      read("projects", its, undefined, textOr(own(it, "id"))),
    ),
  dashboards: (it, project) =>
    listIn(it, "tiles").flatMap((tile) =>
      isObject(tile) ? read("insights", own(tile, "insight"), project) : [],
    ),
};
