import { createHash } from "node:crypto";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { empty, json, jsonText, type Reply, withHeaders } from "../../../kernel/http/reply.ts";
import { hasConditionSets } from "../../../state/documents/flag-config.ts";
import { experimentFlagsOf, surveyFlagIds } from "../../../state/documents/resources.ts";
import type { FeatureFlag, ReadonlyWorld, StoredProject } from "../../../state/documents/world.ts";
import type { Desk } from "../../capture/desk.ts";
import { payloadText } from "../engine/decision.ts";
import { type FlagEntry, withDependencies } from "../engine/dependencies.ts";
import type { Filters } from "../engine/filters.ts";
import { overriddenDecision, overridesFor } from "../engine/overrides.ts";
import type { Ruleset } from "../engine/ruleset.ts";
import { referenceIn } from "../engine/values.ts";
import type { Rulesets } from "../rulesets.ts";
import { cohortTrees, withoutCohorts } from "./definitions-cohorts.ts";
import { type FlagAccess, flagAccess, isQuotaLimited } from "./flag-access.ts";
import { redacted } from "./flags-answer.ts";
import type { FlagDefinitions } from "./public-shapes.ts";

/** Payloads as SDKs expect them: JSON text. */
function withPayloadTexts(filters: Filters): Filters {
  const { payloads } = filters;
  if (!payloads) return filters;
  const texts = Object.keys(payloads).map((name) => [name, payloadText(payloads, name)]);
  return { ...filters, payloads: Object.fromEntries(texts) };
}

const showDefinition = (
  flag: FeatureFlag,
  filters: Filters,
  used: ReadonlySet<unknown>,
): FlagDefinitions["flags"][number] => ({
  id: flag.id,
  team_id: flag.project,
  name: flag.name,
  key: flag.key,
  filters,
  deleted: flag.deleted,
  active: flag.active,
  ensure_experience_continuity: flag.ensure_experience_continuity,
  has_encrypted_payloads: flag.has_encrypted_payloads,
  version: flag.version,
  evaluation_runtime: flag.evaluation_runtime ?? "all",
  evaluation_contexts: flag.evaluation_contexts ?? [],
  bucketing_identifier: flag.bucketing_identifier,
  has_experiment: used.has(flag.id) || used.has(flag.key),
});

const isWhole = ({ fault, compiled, dependencies }: FlagEntry): boolean =>
  fault === undefined && compiled.dependencies.length === dependencies.length;

function createChains(ruleset: Ruleset, shown: readonly FeatureFlag[]) {
  const keys = new Map(shown.map((flag) => [flag.id, flag.key]));
  const isShown = new Set(shown);
  const known = new Map<string, readonly string[]>();

  function compute(key: string): readonly string[] {
    const entries = ruleset.ordered.filter(({ compiled }) => isShown.has(compiled.flag));
    const target = entries.find(({ compiled }) => compiled.flag.key === key);
    const needed = withDependencies(target ? [target] : [], new Set([key]));
    const chain = entries.filter((it) => needed.has(it) && isWhole(it));
    return chain.length === needed.size ? chain.map(({ compiled }) => compiled.flag.key) : [];
  }

  return {
    keyOf(reference: string) {
      const id = referenceIn(reference);
      return (id === undefined ? undefined : keys.get(id)) ?? reference;
    },
    /** Keys of all flags that a flag needs, itself last; empty if one is missing or refers to itself. */
    chainOf(key: string) {
      const found = known.get(key) ?? compute(key);
      known.set(key, found);
      return found;
    },
  };
}

/**
 * Rewrites filters on other flags for SDKs: they get the flag's key, and in `dependency_chain` the flags to
 * compute before. Upstream `posthog/models/feature_flag/local_evaluation.py`.
 */
function chainWriter(ruleset: Ruleset, shown: readonly FeatureFlag[]): (filters: Filters) => Filters {
  if (!ruleset.hasDependencies) return (filters) => filters;
  const chains = createChains(ruleset, shown);
  return (filters) => ({
    ...filters,
    ...(filters.groups && {
      groups: filters.groups.map((group) => ({
        ...group,
        ...(group.properties && {
          properties: group.properties.map((filter) => {
            if (filter.type !== "flag") return filter;
            const key = chains.keyOf(filter.key);
            return { ...filter, key, dependency_chain: chains.chainOf(key) };
          }),
        }),
      })),
    }),
  });
}

/** SDKs do not evaluate a flag with experience continuity locally. */
const withContinuity = (flag: FeatureFlag): FeatureFlag => ({ ...flag, ensure_experience_continuity: true });

/** The flags that only the server can decide: those with an override for a single distinct id. */
function leftToServer({ worlds }: Desk, project: StoredProject): (flag: FeatureFlag) => FeatureFlag {
  const own = worlds.current.flag_overrides.filter((it) => it.project === project.id && it.distinct_id !== null);
  const keys = new Set(own.map(({ flag }) => flag));
  return (flag) => (keys.has(flag.key) ? withContinuity({ ...flag, active: true }) : flag);
}

/** SDKs evaluate condition sets only: upstream leaves out other rules. */
const isShown = ({ deleted, is_remote_configuration, filters }: FeatureFlag): boolean =>
  !deleted && !is_remote_configuration && hasConditionSets(filters);

function definitionsOf(desk: Desk, ruleset: Ruleset, project: StoredProject, hasCohorts: boolean): FlagDefinitions {
  const { flags: all, propertyMatchingVersion } = ruleset.source;
  const ofSurveys = surveyFlagIds(desk.worlds.current, project.id);
  const flags = all.filter((it) => isShown(it) && !ofSurveys.has(it.id));
  const used = experimentFlagsOf(desk.worlds, project.id);
  const withChains = chainWriter(ruleset, flags);
  const asServed = leftToServer(desk, project);
  const withCohorts = hasCohorts ? (it: Filters) => it : (it: Filters) => withoutCohorts(ruleset, it);
  const shown = (filters: Filters): Filters => withPayloadTexts(withChains(withCohorts(filters)));
  return {
    flags: flags.map((flag) => showDefinition(asServed(flag), shown(flag.filters), used)),
    group_type_mapping: Object.fromEntries(desk.people.groupTypes(project.id).entries()),
    cohorts: hasCohorts ? cohortTrees(ruleset, flags) : {},
    ...(propertyMatchingVersion === 2 && { property_matching_version: 2 }),
    ...(project.settings.minimal_flag_called_events === true && { minimal_flag_called_events: true }),
  };
}

/** True if an `If-None-Match` header names the tag. Weak comparison: `W/` is ignored. */
function isNamed(header: string, etag: string): boolean {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag.replace(/^W\//, ""));
}

const overQuota = (): SimError => new SimError("payment_required", "You have exceeded your feature flag request quota");

/** With an override for all, the flag's rules are replaced, so that SDKs evaluate to it. */
const rulesetFor = (desk: Desk, rulesets: Rulesets, project: StoredProject): Ruleset =>
  rulesets.overriddenRulesetOf(project, overridesFor(desk.worlds, project.id, undefined));

function definitions(desk: Desk, rulesets: Rulesets, call: Call, { family, hasCohorts }: Row): Reply {
  const { project } = flagAccess(call, desk, family);
  call.record.project = project.id;
  if (isQuotaLimited(project, call)) throw overQuota();
  const text = JSON.stringify(definitionsOf(desk, rulesetFor(desk, rulesets, project), project, hasCohorts(call)));
  const etag = `W/"${createHash("sha1").update(text).digest("hex").slice(0, 32)}"`;
  const reply: Reply = isNamed(call.headers["if-none-match"] ?? "", etag) ? empty(304) : jsonText(text);
  return withHeaders(reply, "etag", etag, "cache-control", "private, must-revalidate");
}

interface Row {
  readonly path: string;
  readonly family: "flags" | "service";
  hasCohorts(call: Call): boolean;
}

const onRequest = (call: Call): boolean => call.query.has("send_cohorts");

/** The flags service always sends cohorts, the application when the query asks for them. */
const rows: readonly Row[] = [
  { path: "/flags/definitions", family: "flags", hasCohorts: () => true },
  { path: "/api/feature_flag/local_evaluation", family: "service", hasCohorts: onRequest },
  { path: "/api/projects/:project_id/feature_flags/local_evaluation", family: "service", hasCohorts: onRequest },
];

/**
 * Flag definitions for local evaluation. Upstream PostHog rust/feature-flags, api/flag_definitions, and
 * `posthog/models/feature_flag/local_evaluation.py`.
 */
export const definitionEndpoints = (desk: Desk, rulesets: Rulesets): Endpoint[] =>
  rows.map((row) => ({
    methods: ["GET"],
    path: row.path,
    family: row.family,
    summary: "Flag definitions for local evaluation",
    scope: "feature_flag:read",
    handle: (call) => definitions(desk, rulesets, call, row),
  }));

/** The project's remote-config flag of a key; digits alone are an id, as upstream has it. */
function findFlag(world: ReadonlyWorld, project: number, key: string): FeatureFlag | undefined {
  const isId = /^\d+$/.test(key);
  return world.feature_flags.find(
    (flag) =>
      flag.project === project &&
      !flag.deleted &&
      flag.is_remote_configuration &&
      (isId ? String(flag.id) === key : flag.key === key),
  );
}

/** Falsy in Python: such a payload is answered without a body. */
const isNothing = (payload: unknown): boolean =>
  !payload || (typeof payload === "object" && Object.keys(payload).length === 0);

function storedPayload(world: ReadonlyWorld, flag: FeatureFlag): string | null {
  const override = overridesFor({ current: world }, flag.project, undefined).get(flag.key);
  if (override) return overriddenDecision(flag, override).payload;
  const { payloads } = flag.filters;
  return isNothing(payloads?.true) ? null : payloadText(payloads, "true");
}

/** An encrypted payload is for personal keys only; with a secret key it is redacted, even if there is none. */
function payloadFor(world: ReadonlyWorld, { credential }: FlagAccess, flag: FeatureFlag): string | null {
  if (flag.has_encrypted_payloads && credential === "secret") return redacted;
  return storedPayload(world, flag);
}

const nothing: Reply = jsonText("");

function remoteConfig(desk: Desk, call: Call): Reply {
  const access = flagAccess(call, desk, "service");
  call.record.project = access.project.id;
  const flag = findFlag(desk.worlds.current, access.project.id, call.params.key ?? "");
  if (!flag) throw new SimError("not_found", "Not found.");
  const payload = payloadFor(desk.worlds.current, access, flag);
  return payload ? json(payload) : nothing;
}

/**
 * The payload of one remote-config flag, as a JSON string whose content is JSON; 200 without a body when it
 * has none. Upstream PostHog rust/feature-flags, api/remote_config.
 */
export const flagRemoteConfigEndpoints = (desk: Desk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/api/projects/:project_id/feature_flags/:key/remote_config",
    family: "service",
    summary: "Payload of a remote-config flag",
    scope: "feature_flag:read",
    handle: (call) => remoteConfig(desk, call),
  },
];
