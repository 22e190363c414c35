import { isObject, type Json, type JsonObject, objectIn, objectsIn, own, textsIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { liveResource } from "../../../state/documents/resources.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { ResourceRequest } from "../../api-frame/changing.ts";
import { invalid, typeName } from "../../api-frame/fields.ts";
import type { Resources, Writing } from "./kind.ts";
import { textIn } from "./resource-fields.ts";

/** What the service refuses in an experiment. Upstream PostHog/posthog products/experiments/backend/experiment_service.py. */

export type Variant = JsonObject;

export const variantsOf = ({ filters }: FeatureFlag): readonly Variant[] =>
  objectsIn((filters.multivariate?.variants ?? []) as unknown as Json);

const tooFew = "Feature flag must have at least 2 variants (control and at least one test variant)";

/** @throws SimError for a flag that no experiment can use */
export function checkFlag(flag: FeatureFlag): void {
  const variants = variantsOf(flag);
  if (variants.length < 2) throw invalid(tooFew);
  if (!variants.some(({ key }) => key === "control")) {
    throw invalid("Feature flag must have a variant with key 'control'");
  }
}

/** @throws SimError for a flag that an experiment cannot start with */
export function checkLaunch(flag: FeatureFlag | undefined): void {
  if (!flag || flag.deleted) {
    throw invalid("Experiment cannot be launched because its feature flag has been deleted.");
  }
  checkFlag(flag);
}

/** Values in the way that Python writes them in a list. */
const listed = (values: readonly unknown[]): string => `[${values.map((it) => `'${it}'`).join(", ")}]`;

/** @throws SimError invalid_input */
function checkConfig({ feature_flag_variants: variants }: JsonObject): void {
  if (variants === undefined || variants === null) return;
  const refuse = (detail: string) => invalid(detail);
  if (!Array.isArray(variants)) throw refuse("Feature flag variants must be a list");
  for (const [i, it] of variants.entries()) {
    if (!isObject(it)) throw refuse(`Feature flag variant at index ${i} must be an object`);
    if (it.key === undefined) throw refuse(`Feature flag variant at index ${i} must have a 'key' field`);
    if (it.split_percent === undefined && it.rollout_percentage === undefined) {
      throw refuse("Each variant must include split_percent (recommended) or rollout_percentage (deprecated).");
    }
  }
  if (variants.length >= 21) throw refuse("Feature flag variants must be less than 21");
  if (variants.length === 1) throw refuse(tooFew);
  const keys = objectsIn(variants).map(({ key }) => key);
  if (keys.length > 0 && !keys.includes("control")) {
    throw refuse(
      `Feature flag variants must contain a variant with key 'control' (lowercase, exactly). Got keys: ${listed(keys)}. Rename the baseline variant's 'key' to 'control'.`,
    );
  }
}

const exposureKinds = ["ExperimentEventExposureConfig", "ActionsNode"];
const exposureHint =
  "Expected either an event-based config like {'kind': 'ExperimentEventExposureConfig', 'event': '<event_name>', 'properties': []} or an action-based config like {'kind': 'ActionsNode', 'id': <action_id>}.";

const missing = (at: readonly string[]): string =>
  `{'loc': (${at.map((it) => `'${it}'`).join(", ")}${at.length === 1 ? "," : ""}), 'type': 'missing', 'msg': 'Field required'}`;

/** @throws SimError invalid_input */
function checkExposure(criteria: Json): void {
  const refuse = (detail: string) => invalid(detail, "exposure_criteria");
  if (!isObject(criteria)) {
    throw refuse(
      `exposure_criteria must be an object, got ${typeName(criteria)}. Expected shape: {'filterTestAccounts': <bool>, 'exposure_config': <object>}.`,
    );
  }
  const { filterTestAccounts: filter, exposure_config: config } = criteria;
  if (filter !== undefined && typeof filter !== "boolean") {
    const value = typeof filter === "string" ? `'${filter}'` : JSON.stringify(filter);
    throw refuse(
      `exposure_criteria.filterTestAccounts must be a boolean, got ${typeName(filter)}: ${value.slice(0, 80)}.`,
    );
  }
  if (config === undefined) return;
  if (!isObject(config)) {
    throw refuse(`exposure_criteria.exposure_config must be an object, got ${typeName(config)}. ${exposureHint}`);
  }
  const kind = config.kind ?? "ExperimentEventExposureConfig";
  if (!exposureKinds.includes(stringOf(kind))) {
    throw refuse(
      `exposure_criteria.exposure_config.kind must be one of ${listed(exposureKinds)}, got '${stringOf(kind).slice(0, 80)}'. ${exposureHint}`,
    );
  }
  const required = kind === "ActionsNode" ? ["id"] : ["event", "properties"];
  const absent = required.filter((name) => (config[name] ?? null) === null).map((name) => missing([name]));
  if (absent.length > 0) {
    throw refuse(`Invalid exposure_criteria.exposure_config (kind='${kind}'): [${absent.join(", ")}]. ${exposureHint}`);
  }
}

/** By type of metric: its name upstream and the fields that it needs. */
const metricTypes: Readonly<Record<string, readonly [name: string, ...fields: string[]]>> = {
  mean: ["ExperimentMeanMetric", "source"],
  funnel: ["ExperimentFunnelMetric", "series"],
  ratio: ["ExperimentRatioMetric", "numerator", "denominator"],
  retention: [
    "ExperimentRetentionMetric",
    "start_event",
    "completion_event",
    "retention_window_start",
    "retention_window_end",
    "retention_window_unit",
    "start_handling",
  ],
};

const legacyKinds: readonly unknown[] = ["ExperimentTrendsQuery", "ExperimentFunnelsQuery"];

/** @throws SimError invalid_input */
function checkMetric(metric: Json, i: number, attr: string): void {
  const refuse = (detail: string) => invalid(`Invalid metric at index ${i}: ${detail}`, attr);
  if (!isObject(metric)) throw refuse("must be a dict");
  const { kind, metric_type: type } = metric;
  if (legacyKinds.includes(kind)) {
    throw refuse(
      `legacy metric kind '${kind}' is no longer supported for new experiments. Use 'ExperimentMetric' instead.`,
    );
  }
  if (kind !== "ExperimentMetric") throw refuse("metric kind must be 'ExperimentMetric'");
  const known = own(metricTypes as unknown as JsonObject, stringOf(type)) as unknown as readonly string[] | undefined;
  if (!known) {
    const types = Object.keys(metricTypes).map((it) => `'${it}'`);
    throw refuse(`metric_type must be one of ${types.join(", ")}, got '${stringOf(type ?? "")}'`);
  }
  const [name = "", ...fields] = known;
  const absent = fields.filter((it) => (metric[it] ?? null) === null).map((it) => missing([name, it]));
  if (absent.length > 0) throw refuse(`[${absent.join(", ")}].`);
  if (type === "funnel" && Array.isArray(metric.series) && metric.series.length === 0) {
    throw refuse(
      "funnel metrics require at least one step. The experiment exposure event is added as the initial step automatically.",
    );
  }
}

/** The events and actions that metrics of an experiment count. */
const nodesOf = (metrics: Json | undefined): JsonObject[] =>
  objectsIn(metrics).flatMap((it) => [
    ...objectsIn(it.series),
    ...["source", "numerator", "denominator", "start_event", "completion_event"].flatMap((name) =>
      isObject(it[name]) ? [objectIn(it, name)] : [],
    ),
  ]);

/** @throws SimError invalid_input */
function checkMetrics(metrics: Json, attr: string, { desk, request }: Writing): void {
  if (!Array.isArray(metrics)) throw invalid("Metrics must be a list", attr);
  for (const [i, it] of metrics.entries()) checkMetric(it, i, attr);
  const ids = nodesOf(metrics).flatMap((it) => (it.kind === "ActionsNode" ? [Number(it.id)] : []));
  const unknown = [...new Set(ids)].filter((id) => !liveResource(desk.worlds, "actions", request.project?.id ?? 0, id));
  if (unknown.length > 0) {
    const names = unknown.toSorted((a, b) => a - b).join(", ");
    throw invalid(
      `Action(s) with ID ${names} not found or deleted. Each ActionsNode must reference an existing action belonging to this project.`,
    );
  }
}

/** phx-sim has no shared metrics. @throws SimError invalid_input */
function checkSavedMetrics(ids: Json): void {
  const refuse = (detail: string) => invalid(detail, "saved_metrics_ids");
  if (!Array.isArray(ids)) throw refuse("Saved metrics must be a list");
  for (const it of ids) {
    if (!isObject(it)) throw refuse("Saved metric must be an object");
    if (it.id === undefined) throw refuse("Saved metric must have an id");
  }
  if (ids.length > 0) throw refuse("Saved metric does not exist or does not belong to this project");
}

/** Checks what a client sent. @param config What it asks of the flag @throws SimError invalid_input, does_not_exist */
export function checkExperiment(body: JsonObject, config: JsonObject | undefined, writing: Writing): void {
  const { holdout_id: holdout = null, saved_metrics_ids: saved = null } = body;
  const { exposure_criteria: criteria = null, excluded_variants: excluded = null } = body;
  // phx-sim has no holdouts
  if (holdout !== null) {
    throw invalid(`Invalid pk "${holdout}" - object does not exist.`, "holdout_id", "does_not_exist");
  }
  if (config) checkConfig(config);
  if (criteria !== null) checkExposure(criteria);
  if (saved !== null) checkSavedMetrics(saved);
  if (excluded !== null && !(Array.isArray(excluded) && excluded.every((it) => typeof it === "string"))) {
    throw invalid("excluded_variants must be a list of strings", "excluded_variants");
  }
  for (const name of ["metrics", "metrics_secondary"]) {
    const metrics = body[name] ?? null;
    if (metrics !== null) checkMetrics(metrics, name, writing);
  }
}

/** @throws SimError invalid_input */
export function checkDates({ start_date: start, end_date: end }: JsonObject): void {
  if (typeof start === "string" && typeof end === "string" && Date.parse(start) >= Date.parse(end)) {
    throw invalid("End date must be after start date");
  }
}

const keysOf = (variants: readonly Variant[]): string[] => variants.map(({ key }) => stringOf(key));

/** @throws SimError invalid_input */
export function checkStatistics(config: Json | undefined, variants: readonly Variant[]): void {
  if (!isObject(config)) return;
  const { method = null, baseline_variant_key: baseline = null } = config;
  if (method !== null && method !== "bayesian" && method !== "frequentist") {
    throw invalid(`Invalid stats method: '${method}'. Must be one of: bayesian, frequentist`);
  }
  const keys = keysOf(variants);
  if (baseline !== null && keys.length > 0 && !keys.includes(stringOf(baseline))) {
    const names = keys.toSorted().join(", ");
    throw invalid(`Invalid baseline_variant_key: '${baseline}'. Must be one of: ${names}`);
  }
}

/** @throws SimError invalid_input */
export function checkExcluded({ excluded_variants, stats_config }: JsonObject, variants: readonly Variant[]): void {
  const excluded = textsIn(excluded_variants);
  if (excluded.length === 0) return;
  const baseline = (isObject(stats_config) && textIn(stats_config, "baseline_variant_key")) || "control";
  if (excluded.includes(baseline)) throw invalid(`baseline variant cannot be excluded ('${baseline}')`);
  const keys = keysOf(variants);
  const unknown = excluded.filter((it) => !keys.includes(it));
  if (unknown.length > 0) {
    throw invalid(`unknown variants for this experiment: ${listed(unknown.toSorted())}`);
  }
  if (!keys.some((it) => it !== baseline && !excluded.includes(it))) {
    throw invalid("at least one test variant must remain in analysis");
  }
}

/** Checks that the project has the events that metrics count, unless the client says that it knows. @throws SimError invalid_input */
export async function checkKnownEvents(
  body: JsonObject,
  { project }: ResourceRequest,
  resources: Resources,
): Promise<void> {
  if (body.allow_unknown_events === true || !project) return;
  for (const metrics of [body.metrics, body.metrics_secondary]) {
    const names = nodesOf(metrics).flatMap(({ kind, event }) =>
      kind === "EventsNode" && typeof event === "string" && event.trim() !== "" ? [event] : [],
    );
    if (names.length === 0) continue;
    const { events } = await resources.captured(project.id);
    const defined = new Set(resources.stored("event_definitions", project.id).map(({ fields }) => fields.name));
    const unknown = [...new Set(names)].filter((it) => !events.has(it) && !defined.has(it));
    if (unknown.length === 0) continue;
    const shown = unknown.toSorted().map((it) => `'${it}'`);
    throw invalid(
      `Event(s) ${shown.join(", ")} not found. No events with these names have been ingested by this project. If you meant a different event, please correct it. Only if the user has explicitly confirmed they want to proceed with the unknown event (e.g. they will instrument it shortly), call again with allow_unknown_events=True. Do not flip the flag silently to bypass this check.`,
    );
  }
}
