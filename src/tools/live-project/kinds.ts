import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import { authored } from "../../lab/scenario/from-tape/authored-fields.ts";
import type { DocumentKind } from "../../lab/scenario/from-tape/documents.ts";
import { AuthoredProject } from "../../lab/scenario/project-schema.ts";
import { resourceKinds } from "../../service/management/resources/kinds.ts";
import { surveys } from "../../service/management/resources/surveys.ts";

export interface LiveKind {
  /** As the path below the project names it. */
  readonly path: string;
  readonly list: string;
  readonly noun: string;
  /** The queries of its lists; default: one list without a query. */
  readonly queries?: readonly string[];
  /** The documents of a list are short: each is read by itself. */
  readonly whole?: true;
  author(document: JsonObject): JsonObject;
}

export const isHeld = ({ list }: LiveKind): boolean => Object.hasOwn(AuthoredProject.shape, list);

/** What has its own shape in scenarios, as those made of tapes have it. */
const shaped =
  (kind: DocumentKind) =>
  (document: JsonObject): JsonObject =>
    authored({ kind, fields: new Map(Object.entries(document)) });

/** What has the form of the management API: the fields that clients may write, ids for shown flags. */
function resource(list: string): LiveKind["author"] {
  const kind = resourceKinds.find((it) => it.kind === list);
  const fields = Object.entries(kind?.fields ?? {}).filter(([, { write, author }]) => write ?? author);
  const names = new Set(["id", "created_at", ...fields.map(([name]) => name)]);
  return (document) =>
    Object.fromEntries(Object.entries(document).filter(([name]) => names.has(name) && !name.startsWith("_")));
}

/** The id of a shown flag, under the name that scenarios use. */
function flagId(document: JsonObject, shown: string, name: string): JsonObject {
  const flag = own(document, shown);
  const id = isObject(flag) ? own(flag, "id") : undefined;
  return typeof id === "number" ? { [name]: id } : {};
}

const picked = (document: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    ["id", ...names, "created_at"].flatMap((name): [string, Json][] => {
      const value = own(document, name);
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

const surveyFields = Object.entries(surveys.fields)
  .filter(
    ([name, { write, blank, show }]) => (write ?? blank) !== undefined && show !== false && !/_flag_id$/.test(name),
  )
  .map(([name]) => name);

const experimentFields =
  "name description type feature_flag_key parameters metrics metrics_secondary secondary_metrics saved_metrics filters exposure_criteria excluded_variants start_date end_date archived conclusion conclusion_comment";

/** Definitions are made from names; ids of the service have no use in a scenario. */
const definition = (list: string): LiveKind["author"] => {
  const author = resource(list);
  return (document) => {
    const { id: _id, created_at: _created, owner: _owner, ...fields } = author(document);
    return fields;
  };
};

/** What is pulled, in the order of the file. Persons and events are not in it. */
export const liveKinds: readonly LiveKind[] = [
  { path: "feature_flags", list: "flags", noun: "flag", author: shaped("feature_flags") },
  { path: "cohorts", list: "cohorts", noun: "cohort", author: shaped("cohorts") },
  {
    path: "surveys",
    list: "surveys",
    noun: "survey",
    author: (it) => ({
      ...picked(it, surveyFields),
      ...flagId(it, "linked_flag", "linked_flag_id"),
      ...flagId(it, "targeting_flag", "targeting_flag_id"),
      ...flagId(it, "internal_targeting_flag", "internal_targeting_flag_id"),
    }),
  },
  {
    path: "early_access_feature",
    list: "early_access_features",
    noun: "early access feature",
    author: (it) => ({
      ...picked(it, ["name", "description", "stage", "documentation_url"]),
      ...flagId(it, "feature_flag", "feature_flag_id"),
    }),
  },
  {
    path: "experiments",
    list: "experiments",
    noun: "experiment",
    author: (it) => picked(it, experimentFields.split(" ")),
  },
  { path: "actions", list: "actions", noun: "action", author: resource("actions") },
  {
    path: "event_definitions",
    list: "event_definitions",
    noun: "event definition",
    author: definition("event_definitions"),
  },
  {
    path: "property_definitions",
    list: "property_definitions",
    noun: "property definition",
    queries: ["type=event", "type=person", ...[0, 1, 2, 3, 4].map((it) => `type=group&group_type_index=${it}`)],
    author: definition("property_definitions"),
  },
  // without their results, which may be large
  { path: "insights", list: "insights", noun: "insight", queries: ["basic=true"], author: shaped("insights") },
  { path: "dashboards", list: "dashboards", noun: "dashboard", whole: true, author: shaped("dashboards") },
];
