import { isObject, type Json, type JsonObject, objectIn, objectsIn, type Path } from "../../kernel/base/json.ts";
import { meantOf, nearest } from "../../kernel/base/nearest.ts";
import { isTimeZone } from "../../kernel/base/time-text.ts";
import { settingNames } from "../../service/management/project-views.ts";
import { surveyTypes } from "../../service/management/resources/survey-checks.ts";
import { knownKinds } from "../../service/query/read-query.ts";
import { knownScopes } from "../../state/documents/scopes.ts";
import type { RawProblem } from "./problems.ts";
import { type AuthoredProject, ServiceFlag } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";

/** Nodes inside a query. */
const nodes = ["EventsNode", "ActionsNode", "DataWarehouseNode", "GroupNode", "PersonsNode"];
const allKinds = [...knownKinds, ...nodes];

const destinations = ["S3", "Snowflake", "Postgres", "Redshift", "BigQuery", "Databricks", "HTTP"];

/** Read by the simulated quotas; no setting of the service's API. */
const ownSettings = ["quota_limited"];

const questionTypes = ["open", "link", "rating", "single_choice", "multiple_choice"];

/** Keys of flags in the service's JSON, and of what is in their filters: those that are read, and others of exports. */
const flagKeys = {
  flag: [
    ...Object.keys(ServiceFlag.shape),
    ...["key", "team_id", "created_by", "last_modified_by", "experiment_set", "surveys", "features", "status"],
    ...["rollback_conditions", "performed_rollback", "can_edit", "usage_dashboard", "analytics_dashboards"],
    ...["has_enriched_analytics", "user_access_level", "creation_context", "is_simple_flag", "rollout_percentage"],
    ...["last_called_at", "is_used_in_replay_settings"],
  ],
  filters: [
    ...["groups", "multivariate", "payloads", "aggregation_group_type_index", "super_groups", "holdout"],
    ...["holdout_groups", "feature_enrollment", "early_exit", "version", "rules", "return_type", "default_value"],
  ],
  set: [
    ...["properties", "rollout_percentage", "variant", "aggregation_group_type_index", "description"],
    ...["users_affected", "sort_key"],
  ],
  property: [
    ...["key", "value", "operator", "type", "group_type_index", "negation", "label", "cohort_name"],
    ...["group_key_names", "bytecode", "conditionHash", "dependency_chain"],
  ],
  variant: ["key", "name", "rollout_percentage", "description"],
};

const warning = (at: Path, text: string, hint: string | undefined): RawProblem => ({
  ...{ at, text },
  ...(hint !== undefined && { hint }),
});

/**
 * Names that may be any text, and are not known: scopes, kinds of queries, time zones, types of destinations, settings,
 * keys of the service's JSON. The service refuses most of them; here they have no effect.
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
  const { flags = {}, surveys = [], settings = {} } = project;
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
      return meant === undefined ? [] : [warning(place, `there is no destination ${JSON.stringify(type)}`, meant)];
    }),
    ...(timezone === undefined ? [] : zoneWarning(timezone, [...at, "timezone"])),
    ...settingWarnings(settings, [...at, "settings"]),
    ...surveys.flatMap((survey, i) => surveyWarnings(survey, [...at, "surveys", i])),
    ...Object.entries(flags).flatMap(([key, flag]) =>
      isObject(flag) && isObject(flag.filters) ? flagWarnings(flag, [...at, "flags", key]) : [],
    ),
  ];
}

/** Keys that are like a known one: the service may have others. */
function keyWarnings(value: JsonObject, known: readonly string[], at: Path): RawProblem[] {
  return Object.keys(value).flatMap((key) => {
    const meant = known.includes(key) ? undefined : meantOf(key, known);
    if (meant === undefined) return [];
    return [{ ...warning([...at, key], `the key ${JSON.stringify(key)} has no effect`, meant), isAboutKey: true }];
  });
}

const settingWarnings = (settings: JsonObject, at: Path): RawProblem[] => [
  ...(Object.hasOwn(settings, "timezone")
    ? [
        {
          at: [...at, "timezone"],
          text: 'the key "timezone" has no effect here',
          hint: "it belongs in the project, beside `settings`",
          isAboutKey: true as const,
        },
      ]
    : []),
  ...keyWarnings(settings, [...settingNames, ...ownSettings], at),
];

function choiceWarning(value: Json | undefined, choices: readonly string[], at: Path, what: string): RawProblem[] {
  if (typeof value !== "string" || choices.includes(value)) return [];
  const hint = meantOf(value, choices) ?? `types are ${choices.join(", ")}`;
  return [warning(at, `there is no type of ${what} ${JSON.stringify(value)}`, hint)];
}

const surveyWarnings = ({ type, questions }: JsonObject, at: Path): RawProblem[] => [
  ...choiceWarning(type, surveyTypes, [...at, "type"], "surveys"),
  ...(Array.isArray(questions) ? questions : []).flatMap((it, i) =>
    isObject(it) ? choiceWarning(it.type, questionTypes, [...at, "questions", i, "type"], "questions") : [],
  ),
];

function flagWarnings(flag: JsonObject, at: Path): RawProblem[] {
  const filters = objectIn(flag, "filters");
  const inFilters = [...at, "filters"];
  const inVariants = [...inFilters, "multivariate", "variants"];
  return [
    ...keyWarnings(flag, flagKeys.flag, at),
    ...keyWarnings(filters, flagKeys.filters, inFilters),
    ...objectsIn(objectIn(filters, "multivariate").variants).flatMap((it, i) =>
      keyWarnings(it, flagKeys.variant, [...inVariants, i]),
    ),
    ...objectsIn(filters.groups).flatMap((set, i) => [
      ...keyWarnings(set, flagKeys.set, [...inFilters, "groups", i]),
      ...objectsIn(set.properties).flatMap((it, j) =>
        keyWarnings(it, flagKeys.property, [...inFilters, "groups", i, "properties", j]),
      ),
    ]),
  ];
}

/** Kinds inside a query are compared only where a known one is near: the service has more of them. */
function kindWarnings(value: Json | undefined, at: Path, isInside = false): RawProblem[] {
  if (Array.isArray(value)) return value.flatMap((it, i) => kindWarnings(it, [...at, i], true));
  if (!isObject(value)) return [];
  const { kind } = value;
  const isUnknown = typeof kind === "string" && !allKinds.includes(kind);
  const inner = Object.entries(value).flatMap(([key, it]) => kindWarnings(it, [...at, key], key !== "source"));
  if (!isUnknown || (isInside && nearest(kind, allKinds) === undefined)) return inner;
  const text = `there is no kind of query ${JSON.stringify(kind)}`;
  return [warning([...at, "kind"], text, meantOf(kind, allKinds)), ...inner];
}

function zoneWarning(name: string, at: Path): RawProblem[] {
  if (isTimeZone(name)) return [];
  const text = `there is no time zone ${JSON.stringify(name)}`;
  return [warning(at, text, meantOf(name, Intl.supportedValuesOf("timeZone")))];
}
