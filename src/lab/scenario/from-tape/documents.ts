import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { pathOf } from "../../tapes/format/routes.ts";
import { jsonOf, projectKeyOf } from "./project-keys.ts";

export const projectKinds = ["dashboards", "insights", "feature_flags", "cohorts", "batch_exports", "persons"] as const;

export type DocumentKind = "users" | "organizations" | "projects" | (typeof projectKinds)[number];

/** The role of a document in an exchange: shown, created or changed by the request, or removed. */
type Role = "shown" | "created" | "changed" | "removed";

interface Sighting {
  readonly kind: DocumentKind;
  /** Its id; for a user, the address. */
  readonly id: string;
  readonly role: Role;
  /** Number of its project, or the project's name in the path. */
  readonly project: string | undefined;
  readonly fields: ReadonlyMap<string, Json>;
  /** Keys that the request set. */
  readonly set?: ReadonlySet<string> | undefined;
}

export interface Found {
  readonly kind: DocumentKind;
  readonly id: string;
  project: string | undefined;
  readonly fields: Map<string, Json>;
  isCreated: boolean;
  isChanged: boolean;
}

const maxDocuments = 20_000;

/** Collects documents as they were before the first exchange. */
export class TapeDocuments {
  readonly #documents = new Map<string, Found>();
  /** Sightings of documents beyond the limit. */
  dropped = 0;

  see(exchange: Exchange): void {
    for (const it of [...sightingsIn(exchange), ...definitionsIn(exchange)]) this.#see(it);
  }

  /** The documents of a kind, in the order of their creation. */
  all(kind: DocumentKind): Found[] {
    const found = [...this.#documents.values()].filter((it) => it.kind === kind && !it.isCreated && it.fields.size > 0);
    // numbers follow the creation; without numbers, lists do: they begin with the newest
    if (kind === "persons" || kind === "batch_exports") return found.reverse();
    const isNumbered = kind !== "users" && found.every(({ id }) => /^\d+$/.test(id));
    return isNumbered ? found.sort((a, b) => Number(a.id) - Number(b.id)) : found;
  }

  #see(sighting: Sighting): void {
    const { kind, id, role, project } = sighting;
    const known = this.#documents.get(`${kind} ${id}`);
    if (!known && role === "removed") return;
    if (!known && this.#documents.size >= maxDocuments) {
      this.dropped++;
      return;
    }
    const it: Found = known ?? { kind, id, project, fields: new Map(), isCreated: false, isChanged: false };
    this.#documents.set(`${kind} ${id}`, it);
    seeFirst(it, sighting, !known);
  }
}

/** The first value counts, until the first change. */
function seeFirst(it: Found, { role, fields, project, set }: Sighting, isNew: boolean): void {
  if (role === "created" && isNew) it.isCreated = true;
  it.project ??= project;
  if (!it.isChanged && role !== "removed")
    for (const [key, value] of fields) if (!it.fields.has(key) && !set?.has(key)) it.fields.set(key, value);
  if (role !== "shown") it.isChanged = true;
}

const inProject = "^/api/(?:projects|environments)/(?<project>[^/]+)";

const paths: readonly { readonly pattern: RegExp; readonly kind: DocumentKind }[] = [
  { pattern: /^\/api\/users\/@me$/, kind: "users" },
  { pattern: /^\/api\/organizations(?:\/[^/]+)?$/, kind: "organizations" },
  {
    pattern: /^\/api\/(?:organizations\/(?<organization>[^/]+)\/)?(?:projects|environments)(?:\/[^/]+)?$/,
    kind: "projects",
  },
  ...projectKinds.map((kind) => ({ pattern: new RegExp(`${inProject}/${kind}(?:/[^/]+)?$`), kind })),
  { pattern: /^\/api\/organizations\/[^/]+\/batch_exports(?:\/[^/]+)?$/, kind: "batch_exports" },
];

const roles: Readonly<Record<string, Role>> = {
  GET: "shown",
  POST: "created",
  PUT: "changed",
  PATCH: "changed",
  DELETE: "removed",
};

function sightingsIn({ req, res, complete }: Exchange): Sighting[] {
  if (res === null || !complete || res.status < 200 || res.status >= 300) return [];
  const path = pathOf(req.url);
  const role = roles[req.method.toUpperCase()];
  const found = role && paths.find(({ pattern }) => pattern.test(path));
  if (!role || !found) return [];
  const { kind, pattern } = found;
  const { project, organization } = pattern.exec(path)?.groups ?? {};
  if (role === "removed") {
    return [{ kind, id: path.split("/").at(-1) ?? "", role, project, fields: new Map() }];
  }
  const body = jsonOf(req);
  const set = role === "changed" ? new Set(isObject(body) ? Object.keys(body) : []) : undefined;
  return documentsIn(jsonOf(res)).flatMap((it) => {
    const isRemoval = role === "changed" && own(it, "deleted") === true;
    return sightingsOf(kind, it, { role: isRemoval ? "removed" : role, project, organization, set });
  });
}

function documentsIn(body: Json | undefined): JsonObject[] {
  const all = isObject(body) ? (own(body, "results") ?? [body]) : (body ?? []);
  return Array.isArray(all) ? all.filter(isObject) : [];
}

interface Context {
  readonly role?: Role;
  readonly project?: string | undefined;
  readonly organization?: string | undefined;
  readonly set?: ReadonlySet<string> | undefined;
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

function sightingsOf(kind: DocumentKind, it: Json | undefined, context: Context = {}): Sighting[] {
  if (!isObject(it)) return [];
  const id = textOf(kind === "users" ? own(it, "email") : (own(it, "id") ?? own(it, "uuid")));
  if (id === undefined) return [];
  const { role = "shown", organization, set } = context;
  const project = kind === "projects" ? undefined : (textOf(own(it, "team_id")) ?? context.project);
  const fields = new Map(Object.entries(it));
  if (kind === "projects" && organization) fields.set("organization", organization);
  return [
    ...(inner[kind]?.(it, project) ?? []),
    { kind, id, role, fields, project, set },
    ...sightingsOf("users", own(it, "created_by")),
  ];
}

const listIn = (it: JsonObject, key: string): Json[] => {
  const list = own(it, key);
  return Array.isArray(list) ? list : [];
};

const inner: Partial<Record<DocumentKind, (it: JsonObject, project: string | undefined) => Sighting[]>> = {
  users: (it) => {
    const current = own(it, "organization");
    const organization = isObject(current) ? textOf(own(current, "id")) : undefined;
    return [
      ...listIn(it, "organizations").flatMap((its) => sightingsOf("organizations", its)),
      ...sightingsOf("organizations", current),
      ...sightingsOf("projects", own(it, "team"), { organization }),
    ];
  },
  organizations: (it) =>
    [...listIn(it, "projects"), ...listIn(it, "teams")].flatMap((its) =>
      sightingsOf("projects", its, { organization: textOf(own(it, "id")) }),
    ),
  dashboards: (it, project) =>
    listIn(it, "tiles").flatMap((tile) =>
      isObject(tile) ? sightingsOf("insights", own(tile, "insight"), { project }) : [],
    ),
};

/** Flags and cohorts in the definitions for local evaluation. */
function definitionsIn({ route, res }: Exchange): Sighting[] {
  const body = jsonOf(res);
  if (route !== "local-evaluation" || res?.status !== 200 || !isObject(body)) return [];
  const flags = listIn(body, "flags").filter(isObject);
  const project = flags.map((it) => textOf(own(it, "team_id"))).find((it) => it);
  const cohorts = own(body, "cohorts");
  return [
    ...flags.flatMap((it) => sightingsOf("feature_flags", it, { project })),
    ...Object.entries(isObject(cohorts) ? cohorts : {}).map(([id, properties]): Sighting => {
      const fields = new Map<string, Json>([
        ["id", Number(id)],
        ["filters", { properties }],
      ]);
      return { kind: "cohorts", id, role: "shown", project, fields };
    }),
  ];
}

/** Names of the group types in the order of their indexes, by the project (its number, or its key). */
export function groupTypesIn(exchange: Exchange): { project: string; types: string[] } | undefined {
  const body = jsonOf(exchange.res);
  if (exchange.route !== "local-evaluation" || !isObject(body)) return undefined;
  const mapping = own(body, "group_type_mapping");
  const types = isObject(mapping) ? Object.values(mapping).filter((it) => typeof it === "string") : [];
  const project = definitionsIn(exchange)[0]?.project ?? projectKeyOf(exchange);
  return types.length > 0 && project !== undefined ? { project, types } : undefined;
}
