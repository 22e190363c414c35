import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isObject, type Json, type JsonObject, objectsIn, textsIn } from "../../../kernel/base/json.ts";
import { compareText, stringOf } from "../../../kernel/base/text.ts";
import type { FeatureFlag, StoredResource } from "../../../state/documents/world.ts";
import type { ResourceRequest } from "../../api-frame/changing.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
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
} from "../../api-frame/fields.ts";
import {
  changeLinkedFlag,
  createNamedFlag,
  flagOfDocument,
  flagWithKey,
  showLinkedFlag,
} from "../../flags/management/linked-flags.ts";
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
import type { ResourceKind, Writing } from "./kind.ts";
import { fieldFilter, searchIn, textIn } from "./resource-fields.ts";

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
function statusOf(desk: ResourceDesk, experiment: StoredResource) {
  const { start_date: start, end_date: end } = experiment.fields;
  if (!start) return "draft";
  if (end) return "stopped";
  return flagOfExperiment(desk, experiment)?.active === false ? "paused" : "running";
}

const defaultVariants: readonly Variant[] = [
  { key: "control", name: "Control Group", rollout_percentage: 50 },
  { key: "test", name: "Test Variant", rollout_percentage: 50 },
];

/** The parameters that are kept by the flag. */
const ofFlag = [
  "feature_flag_variants",
  "rollout_percentage",
  "aggregation_group_type_index",
  "feature_flag_payloads",
  "ensure_experience_continuity",
];

const without = (fields: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** The variants with the percentages under the flag's name for them. */
const variantsFrom = (variants: Json | undefined): Variant[] =>
  objectsIn(variants).map(({ split_percent: split, ...it }) =>
    split === undefined ? it : { ...it, rollout_percentage: split },
  );

/** What the flag keeps, as parameters. */
function parametersOfFlag(flag: FeatureFlag): JsonObject {
  const { groups = [], aggregation_group_type_index: aggregation = null, payloads } = flag.filters as JsonObject;
  const [group] = objectsIn(groups);
  return {
    feature_flag_variants: variantsOf(flag).map((it) => ({ ...it, split_percent: it.rollout_percentage ?? null })),
    ...(typeof group?.rollout_percentage === "number" && { rollout_percentage: group.rollout_percentage }),
    ...(aggregation !== null && { aggregation_group_type_index: aggregation }),
    ...(isObject(payloads) && Object.keys(payloads).length > 0 && { feature_flag_payloads: payloads }),
    ensure_experience_continuity: flag.ensure_experience_continuity,
  };
}

/** The flag's own form as parameters. */
function parametersOfInput(input: JsonObject): JsonObject {
  const filters = isObject(input.filters) ? input.filters : {};
  const multivariate = isObject(filters.multivariate) ? filters.multivariate : {};
  const [group] = objectsIn(filters.groups);
  const entries: [string, Json | undefined][] = [
    ["feature_flag_variants", multivariate.variants],
    ["rollout_percentage", group?.rollout_percentage ?? undefined],
    ["aggregation_group_type_index", filters.aggregation_group_type_index],
    ["feature_flag_payloads", filters.payloads],
    ["ensure_experience_continuity", input.ensure_experience_continuity],
  ];
  return Object.fromEntries(entries.flatMap(([name, it]) => (it === undefined ? [] : [[name, it]])));
}

/**
 * What a body asks of the flag: the flag's own form, or parameters. A flag as it was read (it has an id) and
 * parameters that the flag has already ask for nothing.
 */
function configOf({ parameters, feature_flag: input }: JsonObject, flag?: FeatureFlag): JsonObject | undefined {
  if (isObject(input) && (input.id ?? null) === null) {
    if (input.filters !== undefined || input.ensure_experience_continuity !== undefined)
      return parametersOfInput(input);
  }
  if (!isObject(parameters)) return undefined;
  const known = flag ? parametersOfFlag(flag) : {};
  const isKnown = (name: string, value: Json) =>
    flag !== undefined &&
    (name === "feature_flag_variants"
      ? isDeepStrictEqual(variantsFrom(value), variantsFrom(known[name]))
      : isDeepStrictEqual(value, known[name]));
  const changed = Object.entries(parameters).filter(([name, it]) => ofFlag.includes(name) && !isKnown(name, it));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** The existing flag with the key, or a new one. @throws SimError for a flag that no experiment can use */
function flagOfNew(fields: JsonObject, config: JsonObject | undefined, writing: Writing): FeatureFlag {
  const { desk, request } = writing;
  const key = textIn(fields, "feature_flag_key");
  const existing = flagWithKey(desk, request.project?.id ?? null, key);
  if (existing) {
    if (config) {
      throw invalid(
        `A feature flag with key '${key}' already exists; the experiment links to it as-is, so its config cannot be set here. Omit feature_flag to reuse the existing flag, or edit the flag directly.`,
        "feature_flag",
      );
    }
    checkFlag(existing);
    return existing;
  }
  const { feature_flag_variants, rollout_percentage = 100, aggregation_group_type_index = null } = config ?? {};
  const { feature_flag_payloads: payloads, ensure_experience_continuity: continuity } = config ?? {};
  const variants = variantsFrom(feature_flag_variants);
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

/** Changes of the flag; what the config leaves out stays as it is. */
function syncFlag(flag: FeatureFlag, config: JsonObject, writing: Writing): FeatureFlag {
  const filters = flag.filters as JsonObject;
  const { feature_flag_variants, rollout_percentage: rollout = null } = config;
  const { aggregation_group_type_index: aggregation, feature_flag_payloads: payloads } = config;
  const { ensure_experience_continuity: continuity } = config;
  const variants = variantsFrom(feature_flag_variants);
  return changeLinkedFlag(writing, flag, {
    filters: {
      ...filters,
      groups: objectsIn(filters.groups).map((it, i) =>
        i === 0 && rollout !== null ? { ...it, rollout_percentage: rollout } : it,
      ),
      ...(feature_flag_variants !== undefined && {
        multivariate: { variants: variants.length > 0 ? variants : [...defaultVariants] },
      }),
      ...(aggregation !== undefined && { aggregation_group_type_index: aggregation }),
      ...(payloads !== undefined && { payloads }),
    },
    ...(typeof continuity === "boolean" && { ensure_experience_continuity: continuity }),
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

/** A new experiment has a method of statistics and leaves test accounts out, unless it says otherwise. */
function withDefaults({ stats_config, exposure_criteria, ...fields }: JsonObject): JsonObject {
  const statistics = isObject(stats_config) ? stats_config : {};
  return {
    ...fields,
    stats_config: { ...statistics, method: statistics.method || "bayesian" },
    exposure_criteria: { filterTestAccounts: true, ...(isObject(exposure_criteria) && exposure_criteria) },
  };
}

/** Fields of a body that say what to do, or that another document keeps. */
const notStored = [
  "feature_flag",
  "feature_flag_key",
  "saved_metrics",
  "allow_unknown_events",
  "update_feature_flag_params",
  "_create_in_folder",
];

/** The fields as they are stored. */
function storedFields(fields: JsonObject): JsonObject {
  const { parameters = null } = fields;
  return { ...without(fields, notStored), parameters: isObject(parameters) ? without(parameters, ofFlag) : null };
}

function create(given: JsonObject, writing: Writing): JsonObject {
  const flag = flagOfNew(given, configOf(writing.body), writing);
  const variants = variantsOf(flag);
  checkStatistics(given.stats_config, variants);
  checkExcluded(given, variants);
  return {
    ...withDefaults(storedFields(given)),
    feature_flag_id: flag.id,
    ...(given.type === "web" && {
      variants: Object.fromEntries(
        variants.map(({ key, rollout_percentage = null }) => [stringOf(key), { rollout_percentage }]),
      ),
    }),
  };
}

/** @throws SimError for what a change may not do */
function checkChange(
  before: StoredResource,
  flag: FeatureFlag | undefined,
  config: JsonObject | undefined,
  body: JsonObject,
) {
  if (before.fields.deleted === true && body.deleted === false && flag?.deleted !== false) {
    throw invalid(
      "Cannot restore experiment: the linked feature flag has been deleted. Restore the feature flag first, then restore the experiment.",
    );
  }
  if (config && before.fields.start_date && body.update_feature_flag_params !== true) {
    throw invalid(
      "This experiment is running. To change its flag config, send update_feature_flag_params=true (or edit the feature flag directly).",
      "feature_flag",
    );
  }
  if (body.feature_flag_key !== undefined && body.feature_flag_key !== flag?.key) {
    throw invalid("Can't update keys: get_feature_flag_key on Experiment");
  }
  if (body.type !== undefined && body.type !== before.fields.type) {
    throw invalid("Can't update keys: type on Experiment");
  }
  if (before.fields.start_date && flag && config?.feature_flag_variants !== undefined) {
    const own = variantsOf(flag).map(({ key }) => key);
    const sent = variantsFrom(config.feature_flag_variants).map(({ key }) => key);
    if (sent.length !== own.length || !sent.every((it) => own.includes(it))) {
      throw invalid("Can't update feature_flag_variants on Experiment");
    }
  }
}

function change(given: JsonObject, before: StoredResource, writing: Writing): JsonObject {
  const { body, desk } = writing;
  const flag = flagOfExperiment(desk, before);
  const config = configOf(body, flag);
  checkChange(before, flag, config, body);
  const isLaunched = !before.fields.start_date && typeof body.start_date === "string";
  if (isLaunched) checkLaunch(flag);
  const current = flag && config ? syncFlag(flag, config, writing) : flag;
  const variants = current ? variantsOf(current) : [];
  if (body.stats_config !== undefined || config) checkStatistics(given.stats_config, variants);
  if (body.excluded_variants !== undefined) checkExcluded(given, variants);
  if (isLaunched && current) changeLinkedFlag(writing, current, { active: true });
  // one of a scenario whose flag does not exist keeps the key of it
  const { feature_flag_key: key } = before.fields;
  return {
    ...storedFields(given),
    ...(flag ? { feature_flag_id: flag.id } : key !== undefined && { feature_flag_key: key }),
  };
}

function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { body, before } = writing;
  checkExperiment(body, configOf(body), writing);
  checkDates(body);
  const fields = withMetrics(given, writing);
  return before ? change(fields, before, writing) : create(fields, writing);
}

/** The parameters with what the flag keeps of them. */
const showParameters = (parameters: Json | undefined, flag: FeatureFlag | undefined): Json =>
  flag && variantsOf(flag).length > 0 ? { ...(isObject(parameters) && parameters), ...parametersOfFlag(flag) } : null;

/** Other names of statuses. */
const statuses: Readonly<Record<string, string>> = { complete: "stopped" };
const known = ["draft", "running", "paused", "stopped"];

type Key = (experiment: StoredResource, desk: ResourceDesk) => string | number | null;

const field =
  (name: string): Key =>
  ({ fields }) =>
    typeof fields[name] === "string" ? fields[name] : null;

function durationOf({ fields: { start_date: start, end_date: end } }: StoredResource, { clock }: ResourceDesk) {
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
  return typeof a === "number" && typeof b === "number" ? a - b : compareText(stringOf(a), stringOf(b));
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
    // one of a scenario may have none
    name: z.string(),
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
    const { exposure_criteria: criteria, feature_flag_key: key, metrics, metrics_secondary } = fields;
    return {
      feature_flag_key: flag?.key ?? key ?? "",
      // clients' schemas take no null for these four
      metrics: metrics ?? [],
      metrics_secondary: metrics_secondary ?? [],
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
