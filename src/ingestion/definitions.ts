import { createHash } from "node:crypto";
import type { FlagBook } from "../flags/book.ts";
import { payloadText } from "../flags/decision.ts";
import { overridesFor } from "../flags/overrides.ts";
import type { Ruleset } from "../flags/ruleset.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { empty, jsonText, type Reply, withHeaders } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import type { Desk } from "../model/desk.ts";
import { hasKnownRules } from "../model/flag-config.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, Project } from "../model/world.ts";
import { chainWriter } from "./definitions-chains.ts";
import { cohortTrees, withoutCohorts } from "./definitions-cohorts.ts";
import { flagAccess } from "./flags-access.ts";
import { isQuotaLimited } from "./flags-quota.ts";

type Filters = FeatureFlag["filters"];

/** Payloads as SDKs expect them: JSON text, whatever the scenario's author wrote. */
function withPayloadTexts(filters: Filters): Filters {
  const { payloads } = filters;
  if (!payloads) return filters;
  const texts = Object.keys(payloads).map((name) => [name, payloadText(payloads, name)]);
  return { ...filters, payloads: Object.fromEntries(texts) };
}

const showDefinition = (flag: FeatureFlag, filters: Filters) => ({
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
});

/** SDKs leave a flag with experience continuity to the server. */
const withContinuity = (flag: FeatureFlag): FeatureFlag => ({ ...flag, ensure_experience_continuity: true });

/**
 * The flags that only the server can decide: those with an override for a single distinct id, and those whose rules
 * are of an unknown version, for which it answers `failed`.
 */
function leftToServer({ worlds }: Desk, project: Project): (flag: FeatureFlag) => FeatureFlag {
  const own = worlds.current.flag_overrides.filter(
    (it) => it.project === project.id && it.distinct_id !== null,
  );
  const keys = new Set(own.map(({ flag }) => flag));
  return (flag) => {
    if (keys.has(flag.key)) return withContinuity({ ...flag, active: true });
    return hasKnownRules(flag.filters) ? flag : withContinuity(flag);
  };
}

const isShown = (flag: FeatureFlag): boolean => !flag.deleted && !flag.is_remote_configuration;

/** Everything a server SDK needs to evaluate flags by itself; inactive flags are there, too. */
function definitionsOf(desk: Desk, ruleset: Ruleset, project: Project, hasCohorts: boolean) {
  const { flags: all, propertyMatchingVersion } = ruleset.source;
  const flags = all.filter(isShown);
  const withChains = chainWriter(ruleset, flags);
  const asTold = leftToServer(desk, project);
  const withCohorts = hasCohorts ? (it: Filters) => it : (it: Filters) => withoutCohorts(ruleset, it);
  const shown = (filters: Filters): Filters =>
    hasKnownRules(filters) ? withPayloadTexts(withChains(withCohorts(filters))) : filters;
  return {
    flags: flags.map((flag) => showDefinition(asTold(flag), shown(flag.filters))),
    group_type_mapping: Object.fromEntries(desk.people.groupTypes(project.id).entries()),
    cohorts: hasCohorts
      ? cohortTrees(
          ruleset,
          flags.filter((it) => hasKnownRules(it.filters)),
        )
      : {},
    ...(propertyMatchingVersion === 2 && { property_matching_version: 2 }),
  };
}

/** Does an `If-None-Match` header name the tag? Weak comparison: `W/` does not count. */
function isNamed(header: string, etag: string): boolean {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag.replace(/^W\//, ""));
}

const overQuota = (): SimError =>
  new SimError("payment_required", "You have exceeded your feature flag request quota");

/** With an override for everybody, the flag's rules are such that an SDK comes to it by itself. */
const rulesetFor = (desk: Desk, book: FlagBook, project: Project): Ruleset =>
  book.overriddenRulesetOf(project, overridesFor(desk.worlds, project.id, undefined));

function definitions(desk: Desk, book: FlagBook, call: Call, { family, hasCohorts }: Row): Reply<Note> {
  const { project } = flagAccess(call, desk, family);
  const note: Note = { project: project.id };
  if (isQuotaLimited(project, call)) throw withNote(overQuota(), note);
  const text = JSON.stringify(
    definitionsOf(desk, rulesetFor(desk, book, project), project, hasCohorts(call)),
  );
  const etag = `W/"${createHash("sha1").update(text).digest("hex").slice(0, 32)}"`;
  const reply: Reply = isNamed(call.headers["if-none-match"] ?? "", etag) ? empty(304) : jsonText(text);
  return { ...withHeaders(reply, "etag", etag, "cache-control", "private, must-revalidate"), note };
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
  {
    path: "/api/projects/:project_id/feature_flags/local_evaluation",
    family: "service",
    hasCohorts: onRequest,
  },
];

/**
 * Flag definitions for local evaluation. Upstream PostHog rust/feature-flags, api/flag_definitions, and
 * `posthog/models/feature_flag/local_evaluation.py`.
 */
export const definitionEndpoints = (desk: Desk, book: FlagBook): Endpoint[] =>
  rows.map((row) => ({
    methods: ["GET"],
    path: row.path,
    family: row.family,
    summary: "Flag definitions for local evaluation",
    scope: "feature_flag:read",
    handle: (call) => definitions(desk, book, call, row),
  }));
