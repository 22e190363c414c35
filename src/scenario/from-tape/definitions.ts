import { isObject, type Json, own } from "../../base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { projectKeyOf } from "./keys.ts";
import { jsonOf } from "./sightings.ts";
import type { Sighting } from "./types.ts";

const idOf = (it: Json): string | undefined => {
  const id = isObject(it) ? own(it, "id") : undefined;
  return typeof id === "number" ? String(id) : undefined;
};

/** What the definitions for local evaluation show: flags and cohorts. */
export function definitionSightings(exchange: Exchange): Sighting[] {
  const body = jsonOf(exchange.res);
  if (exchange.route !== "local-evaluation" || exchange.res?.status !== 200 || !isObject(body)) return [];
  const flags = own(body, "flags");
  const all = Array.isArray(flags) ? flags : [];
  const project = all.map((it) => (isObject(it) ? own(it, "team_id") : undefined)).find((it) => it);
  const near = { how: "read" as const, ...(typeof project === "number" && { project: String(project) }) };
  return [
    ...all.flatMap((it): Sighting[] => {
      const id = idOf(it);
      return isObject(it) && id !== undefined
        ? [{ kind: "feature_flags", id, ...near, fields: new Map(Object.entries(it)) }]
        : [];
    }),
    ...cohortsIn(own(body, "cohorts"), near),
  ];
}

function cohortsIn(cohorts: Json | undefined, near: Pick<Sighting, "how" | "project">): Sighting[] {
  if (!isObject(cohorts)) return [];
  return Object.entries(cohorts).map(([id, tree]) => ({
    kind: "cohorts" as const,
    id,
    ...near,
    fields: new Map<string, Json>([
      ["id", Number(id)],
      ["filters", { properties: tree }],
    ]),
  }));
}

/** Names of the kinds of groups in the order of their indexes, by the project (its number, or its key). */
export function groupTypesIn(exchange: Exchange): { project: string; types: string[] } | undefined {
  const body = jsonOf(exchange.res);
  if (exchange.route !== "local-evaluation" || !isObject(body)) return undefined;
  const mapping = own(body, "group_type_mapping");
  const types = isObject(mapping) ? Object.values(mapping).filter((it) => typeof it === "string") : [];
  const [first] = definitionSightings(exchange);
  const project = first?.project ?? projectKeyOf(exchange);
  return types.length > 0 && project !== undefined ? { project, types } : undefined;
}
