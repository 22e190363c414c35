import { createHash } from "node:crypto";
import { payloadText } from "../flags/decision.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint, Family } from "../http/endpoint.ts";
import { empty, jsonText, type Reply, withHeaders } from "../http/reply.ts";
import { isObject, type JsonObject } from "../kernel/json.ts";
import type { Desk } from "../model/desk.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, ReadonlyWorld, World } from "../model/world.ts";
import { flagAccess } from "./flags-access.ts";

/** Payloads as SDKs expect them: JSON text, whatever the scenario's author wrote. */
function showFilters({ filters }: FeatureFlag) {
  if (!filters.payloads) return filters;
  const names = Object.keys(filters.payloads);
  const payloads = Object.fromEntries(names.map((name) => [name, payloadText(filters.payloads, name)]));
  return { ...filters, payloads };
}

const showDefinition = (flag: FeatureFlag) => ({
  id: flag.id,
  team_id: flag.project,
  name: flag.name,
  key: flag.key,
  filters: showFilters(flag),
  deleted: flag.deleted,
  active: flag.active,
  ensure_experience_continuity: flag.ensure_experience_continuity,
  has_encrypted_payloads: flag.has_encrypted_payloads,
  version: flag.version,
  evaluation_runtime: flag.evaluation_runtime ?? "all",
  evaluation_contexts: [],
  bucketing_identifier: flag.bucketing_identifier,
});

/** A dynamic cohort's condition tree; static cohorts have none and are left to the server. */
function treeOf(cohort: World["cohorts"][number]): JsonObject | undefined {
  const filters = isObject(cohort.filters) ? cohort.filters : undefined;
  const tree = filters?.properties ?? cohort.properties;
  return cohort.is_static !== true && isObject(tree) ? tree : undefined;
}

function cohortsOf(world: ReadonlyWorld, project: number): Record<string, JsonObject> {
  const rows = world.cohorts
    .filter((cohort) => cohort.project === project && cohort.deleted !== true)
    .flatMap((cohort) => {
      const tree = treeOf(cohort);
      return tree ? [[String(cohort.id), tree] as const] : [];
    });
  return Object.fromEntries(rows);
}

/** Everything a server SDK needs to evaluate flags by itself; inactive flags are there, too. */
function definitionsOf(desk: Desk, project: number) {
  const world = desk.worlds.current;
  return {
    flags: world.feature_flags
      .filter((flag) => flag.project === project && !flag.deleted && !flag.is_remote_configuration)
      .map(showDefinition),
    group_type_mapping: Object.fromEntries(desk.people.groupTypes(project).entries()),
    cohorts: cohortsOf(world, project),
  };
}

/** Does an `If-None-Match` header name the tag? Weak comparison: `W/` does not count. */
function isNamed(header: string, etag: string): boolean {
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag.replace(/^W\//, ""));
}

function definitions(desk: Desk, call: Call): Reply<Note> {
  const { project } = flagAccess(call, desk);
  const text = JSON.stringify(definitionsOf(desk, project.id));
  const etag = `W/"${createHash("sha1").update(text).digest("hex").slice(0, 32)}"`;
  const reply: Reply = isNamed(call.headers["if-none-match"] ?? "", etag) ? empty(304) : jsonText(text);
  const headed = withHeaders(reply, "etag", etag, "cache-control", "private, must-revalidate");
  return { ...headed, note: { project: project.id } };
}

const rows: readonly (readonly [path: string, family: Family])[] = [
  ["/flags/definitions", "flags"],
  ["/api/feature_flag/local_evaluation", "service"],
  ["/api/projects/:project_id/feature_flags/local_evaluation", "service"],
];

/** Flag definitions for local evaluation. Upstream PostHog rust/feature-flags, api/flag_definitions. */
export const definitionEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(([path, family]) => ({
    methods: ["GET"],
    path,
    family,
    summary: "Flag definitions for local evaluation",
    scope: "feature_flag:read",
    handle: (call) => definitions(desk, call),
  }));
