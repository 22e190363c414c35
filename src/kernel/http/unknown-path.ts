import { nearest } from "../base/nearest.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * What the real service has and phx-sim does not, with everything below it: names by the path above them. Below
 * environments the service has what it has below projects. Source: PostHog/posthog, rest_router.py and its view sets.
 */
const onlyInService: Readonly<Record<string, string>> = {
  "": "report",
  "/api":
    "action async_migrations billing cli-auth cohort dashboard dead_letter_queue element event " +
    "instance_settings instance_status login plugin_config reset sdk_versions signup webauthn",
  "/api/organizations/:id":
    "advanced_activity_logs domains feature_flags integrations oauth_applications personal_api_keys " +
    "plugins proxy_records resource_transfers welcome",
  "/api/projects/:id":
    "activity_log advanced_activity_logs app_metrics column_configurations comments " +
    "data_color_themes data_management elements error_tracking " +
    "experiment_holdouts experiment_saved_metrics exports external_data_schemas external_data_sources " +
    "file_system file_system_shortcut groups heatmaps hog_flows " +
    "ingestion_warnings integrations logs plugin_configs scheduled_changes " +
    "search session_recording_playlists session_recordings sessions tags " +
    "tasks uploaded_media warehouse_saved_queries warehouse_tables warehouse_view_link warehouse_view_links " +
    "web_experiments",
  "/api/projects/:id/dashboards/:id": "run_insights stream_tiles",
  "/api/projects/:id/feature_flags": "evaluation_reasons user_blast_radius",
  "/api/projects/:id/feature_flags/:id": "create_static_cohort_for_flag role_access",
  "/api/projects/:id/insights": "activity funnel trend",
  "/api/projects/:id/insights/:id": "activity alerts sharing thresholds",
  "/api/projects/:id/persons": "activity cohorts funnel lifecycle values",
  "/api/projects/:id/persons/:id": "activity split",
  "/api/users/:id": "integrations push_tokens",
};

const fits = (pattern: string, segments: readonly string[]): boolean => {
  const wanted = pattern.split("/");
  return (
    wanted.length === segments.length &&
    wanted.every((it, i) => it === segments[i] || (it.startsWith(":") && segments[i] !== ""))
  );
};

export function isOnlyInService(path: string): boolean {
  const segments = path.replace(/^\/api\/environments\//, "/api/projects/").split("/");
  return Object.entries(onlyInService).some(([above, names]) => {
    const depth = above.split("/").length;
    return fits(above, segments.slice(0, depth)) && names.split(" ").includes(segments[depth] ?? "");
  });
}

/** The patterns of `isOnlyInService`, each as one path: for the test that none of them is served. */
export const pathsOnlyInService = (): string[] =>
  Object.entries(onlyInService).flatMap(([above, names]) => names.split(" ").map((it) => `${above}/${it}`));

/** An endpoint that SDKs call and that is served at the path without its first segments: `/ingest/batch`. */
function behindPrefix(endpoints: readonly Endpoint[], path: string) {
  const segments = path.split("/");
  for (const depth of [1, 2]) {
    const rest = ["", ...segments.slice(depth + 1)];
    const endpoint =
      rest.length > 1 &&
      endpoints.find(({ path, family }) => prefixable.has(family) && path !== "/" && fits(path, rest));
    if (endpoint) return { prefix: segments.slice(0, depth + 1).join("/"), endpoint };
  }
  return undefined;
}

const prefixable: ReadonlySet<string> = new Set(["capture", "capture-v1", "flags", "service"]);

const nameOf = ({ methods, path }: Endpoint): string => `${methods[0]} ${path}`;

interface UnknownPath {
  readonly nearest: readonly string[];
  /** Why it is not served, and what to do: for the log, reports and the page. */
  readonly hint: string;
}

/** Explains a path that no endpoint has. @param origin Where the request was sent: scheme, host and port */
export function explainUnknownPath(
  endpoints: readonly Endpoint[],
  path: string,
  origin = "the sim's own address",
): UnknownPath {
  const behind = behindPrefix(endpoints, path);
  if (behind) {
    const { prefix, endpoint } = behind;
    const hint = `${prefix} looks like the prefix of a reverse proxy, which must remove it: set the SDK's host to ${origin}, without ${prefix}; the rest is ${nameOf(endpoint)}`;
    return { nearest: [nameOf(endpoint)], hint };
  }
  const nearest = nearestEndpoints(endpoints, path);
  const near = nearest.length > 0 ? `; nearest: ${nearest.join(", ")}` : "";
  const hint = isOnlyInService(path)
    ? `not emulated: the service has this endpoint, phx-sim does not; script an answer (POST /__sim/answers), or pass it on with \`phx-sim record --mode spy\`${near}`
    : `check the path: it does not exist${near || " (GET /__sim/openapi.json lists what does)"}`;
  return { nearest, hint };
}

/** True if it may be a typing mistake. Of two letters, any other one would be. */
const isSlip = (segment: string, wanted: string): boolean =>
  wanted.length > 2 && nearest(segment, [wanted]) !== undefined;

function likeness(wanted: string, segment: string | undefined): number {
  if (segment === wanted) return 1;
  if (!segment) return 0;
  if (wanted.startsWith(":")) return 1;
  return isSlip(segment, wanted) ? 0.5 : 0;
}

/** How much of a pattern's path a path shares, from the front: equal, parameter and misspelt segments. */
function shared(pattern: string, path: string): number {
  const segments = path.split("/");
  let score = 0;
  for (const [i, wanted] of pattern.split("/").entries()) {
    const like = likeness(wanted, segments[i]);
    if (like === 0) break;
    score += like;
  }
  return score;
}

function nearestEndpoints(endpoints: readonly Endpoint[], path: string, most = 3): string[] {
  const distance = (it: Endpoint) => Math.abs(it.path.length - path.length);
  return endpoints
    .map((endpoint) => ({ endpoint, score: shared(endpoint.path, path) }))
    .filter(({ score }) => score > 1)
    .sort((a, b) => b.score - a.score || distance(a.endpoint) - distance(b.endpoint))
    .slice(0, most)
    .map(({ endpoint }) => nameOf(endpoint));
}
