import { isObject, type Json, type Path } from "../base/json.ts";
import { meantOf, nearest } from "../base/nearest.ts";
import { knownKinds } from "../query/read-query.ts";
import { knownScopes } from "../world/scopes.ts";
import type { RawProblem } from "./problems.ts";
import type { AuthoredProject } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";

/** Nodes inside a query. */
const nodes = ["EventsNode", "ActionsNode", "DataWarehouseNode", "GroupNode", "PersonsNode"];
const allKinds = [...knownKinds, ...nodes];

const destinations = ["S3", "Snowflake", "Postgres", "Redshift", "BigQuery", "Databricks", "HTTP"];

const warning = (at: Path, text: string, hint: string | undefined): RawProblem => ({
  ...{ at, text },
  ...(hint !== undefined && { hint }),
});

/**
 * Names that may be any text, and are not known: scopes, kinds of queries, time zones, types of destinations. The service
 * refuses most of them; here they have no effect.
 */
export const nameWarnings = ({ personal_api_keys, organizations }: Scenario): RawProblem[] => [
  ...personal_api_keys.flatMap(({ scopes }, i) =>
    scopes.flatMap((scope, j) => scopeWarning(scope, ["personal_api_keys", i, "scopes", j])),
  ),
  ...organizations.flatMap(({ projects }, i) =>
    projects.flatMap((project, j) => projectWarnings(project, ["organizations", i, "projects", j])),
  ),
];

function scopeWarning(scope: string, at: Path): RawProblem[] {
  if (knownScopes.includes(scope)) return [];
  const form = "a scope is an object with :read or :write, such as dashboard:read, or *";
  return [warning(at, `there is no scope ${JSON.stringify(scope)}`, meantOf(scope, knownScopes) ?? form)];
}

function projectWarnings(project: AuthoredProject, at: Path): RawProblem[] {
  const { insights = [], dashboard_templates = [], cohorts = [], batch_exports = [], timezone } = project;
  return [
    ...insights.flatMap(({ query }, i) => kindWarnings(query, [...at, "insights", i, "query"])),
    ...cohorts.flatMap(({ query }, i) => kindWarnings(query, [...at, "cohorts", i, "query"])),
    ...dashboard_templates.flatMap(({ tiles }, i) =>
      tiles.flatMap((tile, j) =>
        kindWarnings(tile.query as Json, [...at, "dashboard_templates", i, "tiles", j, "query"]),
      ),
    ),
    ...batch_exports.flatMap(({ destination: { type } }, i) => {
      const meant = destinations.includes(type) ? undefined : meantOf(type, destinations);
      const place = [...at, "batch_exports", i, "destination", "type"];
      return meant === undefined
        ? []
        : [warning(place, `there is no destination ${JSON.stringify(type)}`, meant)];
    }),
    ...(timezone === undefined ? [] : zoneWarning(timezone, [...at, "timezone"])),
  ];
}

/** Kinds inside a query are compared only where a known one is near: the service has more of them. */
function kindWarnings(value: Json | undefined, at: Path, isInside = false): RawProblem[] {
  if (Array.isArray(value)) return value.flatMap((it, i) => kindWarnings(it, [...at, i], true));
  if (!isObject(value)) return [];
  const { kind } = value;
  const isUnknown = typeof kind === "string" && !allKinds.includes(kind);
  const inner = Object.entries(value).flatMap(([key, it]) =>
    kindWarnings(it, [...at, key], key !== "source"),
  );
  if (!isUnknown || (isInside && nearest(kind, allKinds) === undefined)) return inner;
  const text = `there is no kind of query ${JSON.stringify(kind)}`;
  return [warning([...at, "kind"], text, meantOf(kind, allKinds)), ...inner];
}

function zoneWarning(name: string, at: Path): RawProblem[] {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return [];
  } catch {
    const text = `there is no time zone ${JSON.stringify(name)}`;
    return [warning(at, text, meantOf(name, Intl.supportedValuesOf("timeZone")))];
  }
}
