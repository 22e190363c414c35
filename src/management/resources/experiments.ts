import { z } from "zod";
import { isObject, type Json, type JsonObject, objectIn, objectsIn, textsIn } from "../../base/json.ts";
import { compareText } from "../../base/text.ts";
import type { FeatureFlag, StoredResource, Worlds } from "../../world/world.ts";
import type { ResourceDesk } from "../frame/desk.ts";
import {
  boolean,
  choice,
  datetime,
  dictionary,
  integer,
  invalid,
  isTrue,
  json,
  list,
  text,
} from "../frame/fields.ts";
import { fieldFilter, searchIn, textIn } from "./checks.ts";
import {
  checkDates,
  checkExcluded,
  checkExperiment,
  checkFlag,
  checkKnownEvents,
  checkLaunch,
  checkStatistics,
  type Variant,
  variantsOf,
} from "./experiment-checks.ts";
import { liveResource, type ResourceKind, type ResourceRequest, type Writing } from "./kind.ts";
import {
  changeLinkedFlag,
  createNamedFlag,
  flagOfDocument,
  flagWithKey,
  showLinkedFlag,
} from "./linked-flags.ts";

/** Upstream PostHog/posthog products/experiments/backend/experiment_service.py. */

/** How experiments ended. */
export const conclusion = () =>
  choice(["won", "lost", "inconclusive", "stopped_early", "invalid"]).nullable().optional();

export const conclusionComment = () => text({ blank: true }).nullable().optional();

/** The flag of an experiment. */
export const flagOfExperiment = (
  desk: ResourceDesk,
  { project, fields }: Pick<StoredResource, "project" | "fields">,
): FeatureFlag | undefined => flagOfDocument(desk, project, fields, fields.feature_flag_key);

/** Where an experiment is: derived from its dates and its flag. */
export function statusOf(desk: ResourceDesk, experiment: StoredResource) {
  const { start_date: start, end_date: end } = experiment.fields;
  if (!start) return "draft";
  if (end) return "stopped";
  return flagOfExperiment(desk, experiment)?.active === false ? "paused" : "running";
}

/** What a query asks of an experiment. */
export function experimentOf(
  worlds: Pick<Worlds, "get" | "current">,
  project: number,
  id: number,
): { readonly flag: string; readonly excluded: readonly string[] } | undefined {
  const experiment = liveResource(worlds, "experiments", project, id);
  if (!experiment) return undefined;
  const { feature_flag_id: flag, feature_flag_key: key, excluded_variants: excluded } = experiment.fields;
  const known = typeof flag === "number" ? worlds.get("feature_flags", flag) : undefined;
  return { flag: known?.key ?? String(key ?? ""), excluded: textsIn(excluded) };
}

const defaultVariants: readonly Variant[] = [
  { key: "control", name: "Control Group", rollout_percentage: 50 },
  { key: "test", name: "Test Variant", rollout_percentage: 50 },
];

/** The parameters that are kept by the flag. */
const ofFlag = ["feature_flag_variants", "rollout_percentage", "aggregation_group_type_index"];

/** The parameters of a body, with those that it gives in the form of a flag. */
function parametersOf({ parameters, feature_flag: flag }: JsonObject): JsonObject | null | undefined {
  const given = isObject(parameters) ? parameters : parameters === null ? null : undefined;
  if (!isObject(flag)) return given;
  const filters = objectIn(flag, "filters");
  const { variants } = objectIn(filters, "multivariate");
  const [group] = objectsIn(filters.groups);
  const { aggregation_group_type_index: aggregation, payloads } = filters;
  const { ensure_experience_continuity: continuity } = flag;
  return {
    ...given,
    ...(Array.isArray(variants) && { feature_flag_variants: variants }),
    ...(typeof group?.rollout_percentage === "number" && { rollout_percentage: group.rollout_percentage }),
    ...(aggregation !== undefined && { aggregation_group_type_index: aggregation }),
    ...(payloads !== undefined && { feature_flag_payloads: payloads }),
    ...(continuity !== undefined && { ensure_experience_continuity: continuity }),
  };
}

const without = (fields: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** The variants with the percentages under the flag's name for them. */
const variantsFrom = (parameters: JsonObject): Variant[] =>
  objectsIn(parameters.feature_flag_variants).map(({ split_percent: split, ...it }) =>
    split === undefined ? it : { ...it, rollout_percentage: split },
  );

/** The existing flag with the key, or a new one of the parameters. */
function flagOfNew(fields: JsonObject, parameters: JsonObject, writing: Writing): FeatureFlag {
  const { desk, request } = writing;
  const key = textIn(fields, "feature_flag_key");
  const existing = flagWithKey(desk, request.project?.id ?? null, key);
  if (existing) {
    checkFlag(existing);
    return existing;
  }
  const variants = variantsFrom(parameters);
  const { rollout_percentage = 100, aggregation_group_type_index = null } = parameters;
  const { feature_flag_payloads: payloads, ensure_experience_continuity: continuity } = parameters;
  return createNamedFlag(writing, {
    key,
    name: `Feature Flag for Experiment ${textIn(fields, "name")}`,
    filters: {
      groups: [{ properties: [], rollout_percentage }],
      multivariate: { variants: variants.length > 0 ? variants : [...defaultVariants] },
      aggregation_group_type_index,
      ...(isObject(payloads) && { payloads }),
    },
    active: Boolean(fields.start_date),
    ensure_experience_continuity: continuity === true,
  });
}

/** Drafts, and who asks for it, change the flag with the parameters. */
function syncFlag(flag: FeatureFlag, parameters: JsonObject, writing: Writing): void {
  const filters = flag.filters as JsonObject;
  const variants = variantsFrom(parameters);
  const { rollout_percentage: rollout, aggregation_group_type_index = null } = parameters;
  const groups = objectsIn(filters.groups).map((it, i) =>
    i === 0 && rollout !== undefined && rollout !== null ? { ...it, rollout_percentage: rollout } : it,
  );
  changeLinkedFlag(writing, flag, {
    filters: {
      ...filters,
      groups,
      multivariate: { variants: variants.length > 0 ? variants : [...defaultVariants] },
      aggregation_group_type_index,
    },
  });
}

/** Each metric has a uuid of its own; the first with a uuid keeps it. */
function withUuids(metrics: Json | undefined, seen: Set<string>, { desk }: Writing): JsonObject[] {
  return objectsIn(metrics).map((it) => {
    const own = textIn(it, "uuid");
    const uuid = own === "" || seen.has(own) ? desk.ids.uuid() : own;
    seen.add(uuid);
    return { ...it, uuid };
  });
}

const metricLists = [
  ["metrics", "primary_metrics_ordered_uuids"],
  ["metrics_secondary", "secondary_metrics_ordered_uuids"],
] as const;

/** The metrics with uuids, and their order with all of them. */
function withMetrics(fields: JsonObject, writing: Writing): JsonObject {
  const { body, before } = writing;
  const isSent = (name: string) => body[name] !== undefined;
  const kept = before ? metricLists.filter(([name]) => !isSent(name)).map(([name]) => name) : [];
  const seen = new Set(kept.flatMap((name) => objectsIn(fields[name]).map((it) => textIn(it, "uuid"))));
  const entries = metricLists.flatMap(([name, order]): [string, Json][] => {
    if (!isSent(name)) return [];
    const metrics = withUuids(fields[name], seen, writing);
    const uuids = metrics.map((it) => textIn(it, "uuid"));
    const gone = objectsIn(before?.fields[name])
      .map((it) => textIn(it, "uuid"))
      .filter((it) => !uuids.includes(it));
    const ordered = textsIn(fields[order]).filter((it) => !gone.includes(it));
    return [
      [name, metrics],
      [order, [...ordered, ...uuids.filter((it) => !ordered.includes(it))]],
    ];
  });
  return { ...fields, ...Object.fromEntries(entries) };
}

const withDefaults = ({ stats_config: stats, exposure_criteria: criteria, ...fields }: JsonObject) => ({
  ...fields,
  stats_config: {
    ...(isObject(stats) && stats),
    method: objectIn({ stats: stats ?? {} }, "stats").method || "bayesian",
  },
  exposure_criteria: { filterTestAccounts: true, ...(isObject(criteria) && criteria) },
});

const notKept = ["feature_flag", "feature_flag_key", "allow_unknown_events", "update_feature_flag_params"];
const notStored = [...notKept, "saved_metrics", "_create_in_folder"];

function create(given: JsonObject, parameters: JsonObject | null, writing: Writing): JsonObject {
  const flag = flagOfNew(given, parameters ?? {}, writing);
  const variants = variantsOf(flag);
  checkStatistics(given.stats_config, variants);
  checkExcluded(given, variants);
  const isWeb = given.type === "web";
  return {
    ...withDefaults(without(given, notStored)),
    feature_flag_id: flag.id,
    parameters: parameters && without(parameters, ofFlag),
    ...(isWeb && {
      variants: Object.fromEntries(
        variants.map(({ key, rollout_percentage = null }) => [String(key), { rollout_percentage }]),
      ),
    }),
  };
}

function change(
  given: JsonObject,
  parameters: JsonObject | null | undefined,
  before: StoredResource,
  writing: Writing,
): JsonObject {
  const { body, desk } = writing;
  const flag = flagOfExperiment(desk, before);
  const isDraft = !before.fields.start_date;
  const isLaunched = isDraft && typeof body.start_date === "string";
  if (before.fields.deleted === true && body.deleted === false && flag?.deleted !== false) {
    throw invalid(
      "Cannot restore experiment: the linked feature flag has been deleted. Restore the feature flag first, then restore the experiment.",
    );
  }
  if (isLaunched) checkLaunch(flag);
  if (body.feature_flag_key !== undefined && body.feature_flag_key !== flag?.key) {
    throw invalid("Can't update keys: get_feature_flag_key on Experiment");
  }
  if (body.type !== undefined && body.type !== before.fields.type) {
    throw invalid("Can't update keys: type on Experiment");
  }
  const sent = parameters && variantsFrom(parameters).map(({ key }) => key);
  if (!isDraft && flag && parameters?.feature_flag_variants !== undefined) {
    const own = variantsOf(flag).map(({ key }) => key);
    if (sent?.length !== own.length || !sent.every((it) => own.includes(it))) {
      throw invalid("Can't update feature_flag_variants on Experiment");
    }
  }
  if (
    flag &&
    parameters &&
    Object.keys(parameters).length > 0 &&
    (isDraft || body.update_feature_flag_params === true)
  ) {
    syncFlag(flag, parameters, writing);
  }
  const current = flagOfExperiment(desk, before);
  const variants = current ? variantsOf(current) : [];
  if (body.stats_config !== undefined) checkStatistics(given.stats_config, variants);
  if (body.excluded_variants !== undefined) checkExcluded(given, variants);
  if (isLaunched && current) changeLinkedFlag(writing, current, { active: true });
  return {
    ...without(given, flag ? notStored : notStored.filter((it) => it !== "feature_flag_key")),
    ...(flag && { feature_flag_id: flag.id }),
    ...(parameters !== undefined && { parameters: parameters && without(parameters, ofFlag) }),
  };
}

function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { body, before } = writing;
  const parameters = parametersOf(body);
  checkExperiment({ ...body, ...(parameters !== undefined && { parameters }) }, writing);
  if (body.start_date !== undefined || body.end_date !== undefined) checkDates(given);
  const fields = withMetrics(given, writing);
  return before ? change(fields, parameters, before, writing) : create(fields, parameters ?? null, writing);
}

/** The parameters with what the flag keeps of them. */
function showParameters(parameters: Json | undefined, flag: FeatureFlag | undefined): Json {
  const variants = flag ? variantsOf(flag) : [];
  if (!flag || variants.length === 0) return null;
  const { groups = [], aggregation_group_type_index: aggregation = null } = flag.filters;
  return {
    ...(isObject(parameters) && parameters),
    feature_flag_variants: variants.map((it) => ({ ...it })),
    rollout_percentage: groups[0]?.rollout_percentage ?? null,
    aggregation_group_type_index: aggregation as Json,
  };
}

const statuses: Readonly<Record<string, string>> = { complete: "stopped" };
const known = ["draft", "running", "paused", "stopped"];

type Key = (experiment: StoredResource, desk: ResourceDesk) => string | number | null;

const field =
  (name: string): Key =>
  ({ fields }) =>
    typeof fields[name] === "string" ? fields[name] : null;

function durationOf(
  { fields: { start_date: start, end_date: end } }: StoredResource,
  { clock }: ResourceDesk,
) {
  if (typeof start !== "string") return null;
  return (typeof end === "string" ? Date.parse(end) : clock.now()) - Date.parse(start);
}

/** What lists can be ordered by. */
const orders: Readonly<Record<string, Key>> = {
  name: field("name"),
  created_at: field("created_at"),
  updated_at: field("updated_at"),
  start_date: field("start_date"),
  end_date: field("end_date"),
  duration: durationOf,
  status: (it, desk) => statusOf(desk, it),
};

function compareKeys(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b));
}

/** Experiments by status and archived or not, in the order that the call asks for. */
function narrow(
  all: readonly StoredResource[],
  { call: { query } }: ResourceRequest,
  desk: ResourceDesk,
): readonly StoredResource[] {
  const asked = query.get("status")?.toLowerCase() ?? "";
  const status = statuses[asked] ?? asked;
  const archived = isTrue(query.get("archived") ?? "");
  const order = query.get("order") ?? "";
  const key = orders[order.replace(/^-/, "")];
  const found = all.filter(
    (it) =>
      // web experiments of a scenario may have another kind of id
      typeof it.key === "number" &&
      (it.fields.archived === true) === archived &&
      (!known.includes(status) || statusOf(desk, it) === status),
  );
  if (!key) return found;
  const sign = order.startsWith("-") ? -1 : 1;
  return found.toSorted((a, b) => sign * compareKeys(key(a, desk), key(b, desk)));
}

const metrics = () => json().optional();
const uuids = () => list(text()).nullable().optional();

export const experiments: ResourceKind = {
  kind: "experiments",
  noun: "experiment",
  isOnlyStored: false,
  of: "project",
  scope: "experiment",
  key: "number",
  deletion: "restore",
  fields: {
    name: text({ max: 400 }),
    description: text({ blank: true }).nullable().optional(),
    start_date: datetime().nullable().optional(),
    end_date: datetime().nullable().optional(),
    feature_flag_key: text(),
    feature_flag: json().optional(),
    holdout_id: integer().nullable().optional(),
    parameters: dictionary().nullable().optional(),
    running_time_calculation: json().optional(),
    excluded_variants: json().optional(),
    secondary_metrics: json().optional(),
    saved_metrics_ids: json().optional(),
    filters: json().optional(),
    archived: boolean().optional(),
    deleted: boolean().optional(),
    type: choice(["web", "product"]).nullable().optional(),
    exposure_criteria: json().optional(),
    metrics: metrics(),
    metrics_secondary: metrics(),
    stats_config: json().optional(),
    scheduling_config: json().optional(),
    allow_unknown_events: boolean().optional(),
    update_feature_flag_params: boolean().optional(),
    conclusion: conclusion(),
    conclusion_comment: conclusionComment(),
    primary_metrics_ordered_uuids: uuids(),
    secondary_metrics_ordered_uuids: uuids(),
    only_count_matured_users: boolean().optional(),
    _create_in_folder: text({ blank: true }).optional(),
  },
  initial: {
    name: "",
    description: "",
    start_date: null,
    end_date: null,
    holdout_id: null,
    parameters: null,
    running_time_calculation: {},
    excluded_variants: null,
    secondary_metrics: [],
    saved_metrics_ids: null,
    filters: {},
    archived: false,
    deleted: false,
    type: "product",
    exposure_criteria: null,
    metrics: [],
    metrics_secondary: [],
    stats_config: null,
    scheduling_config: null,
    conclusion: null,
    conclusion_comment: null,
    primary_metrics_ordered_uuids: null,
    secondary_metrics_ordered_uuids: null,
    only_count_matured_users: false,
  },
  stamps: ["created_at", "created_by", "updated_at"],
  unshown: [
    "feature_flag_id",
    "exposure_criteria",
    "variants",
    "allow_unknown_events",
    "update_feature_flag_params",
    "_create_in_folder",
  ],
  shown: {
    feature_flag_key: z.string(),
    feature_flag: z.looseObject({}).optional(),
    exposure_criteria: z.looseObject({}).optional(),
    holdout: z.null(),
    exposure_cohort: z.null(),
    saved_metrics: z.array(z.looseObject({})),
    status: z.enum(["draft", "running", "paused", "exposure_frozen", "stopped"]),
    user_access_level: z.string(),
  },
  filters: [
    searchIn("name"),
    fieldFilter("feature_flag_id", z.int().describe("Only experiments of the flag with this id")),
    fieldFilter("created_by_id", z.int().describe("Only what the user with this id made"), "created_by"),
  ],
  query: {
    status: z.string().describe("draft, running, paused, stopped, complete (as stopped) or all"),
    archived: z.boolean().describe("Only archived experiments (default: only those that are not)"),
    order: z.string().describe(`${Object.keys(orders).join(", ")}; with - before it: descending`),
  },
  narrow,
  check: checkKnownEvents,
  prepare,
  show(fields, document, desk) {
    const flag = flagOfExperiment(desk, document);
    const { exposure_criteria: criteria, feature_flag_key: key } = fields;
    return {
      feature_flag_key: flag?.key ?? key ?? "",
      // clients' schemas take no null for these two
      ...(flag && { feature_flag: showLinkedFlag(flag) }),
      ...(isObject(criteria) && { exposure_criteria: criteria }),
      parameters: showParameters(fields.parameters, flag),
      holdout: null,
      exposure_cohort: null,
      saved_metrics: [],
      status: statusOf(desk, document),
      user_access_level: "editor",
    };
  },
};
