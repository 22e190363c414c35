import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { json, type Reply, script } from "../../../kernel/http/reply.ts";
import { listsOwner } from "../../../state/documents/project-documents.ts";
import { liveResources } from "../../../state/documents/resources.ts";
import type { ReadonlyWorld, StoredProject } from "../../../state/documents/world.ts";
import type { Desk } from "../desk.ts";
import { projectByHeader } from "../project.ts";
import { fresh, serviceRow } from "./requests.ts";
import type { SdkScripts } from "./static-scripts.ts";

/** What `true` means for a feature; an object in `remote_config` is laid over it: `{"sampleRate": "0.5"}` is enough. */
const switchedOn: Readonly<Record<string, JsonObject>> = {
  sessionRecording: {
    endpoint: "/s/",
    consoleLogRecordingEnabled: false,
    recorderVersion: "v2",
    sampleRate: null,
    minimumDurationMilliseconds: null,
    linkedFlag: null,
    networkPayloadCapture: null,
    masking: null,
    urlTriggers: [],
    urlBlocklist: [],
    eventTriggers: [],
    triggerMatchType: null,
    scriptConfig: { script: "lazy-recorder" },
    domains: [],
  },
  autocaptureExceptions: { endpoint: "/e/" },
  capturePerformance: { network_timing: true, web_vitals: true, web_vitals_allowed_metrics: null },
};

const features = new Map(Object.entries(switchedOn));

/** A trigger group with its events as objects, as SDKs get them. */
function triggerGroup(group: JsonObject): JsonObject {
  const { conditions } = group;
  if (!isObject(conditions) || !Array.isArray(conditions.events)) return group;
  const events = conditions.events.map((it) => (typeof it === "string" ? { name: it } : it));
  return { ...group, conditions: { ...conditions, events } };
}

/** Upstream leaves out a rate of 1, in any notation. */
function sampleRate(value: Json): string | null {
  const rate = Number(value ?? 1);
  return Number.isNaN(rate) || rate === 1 ? null : String(rate);
}

function linkedFlag(value: Json): Json {
  if (!isObject(value)) return null;
  const { key = null, variant = null } = value;
  return variant === null ? key : { flag: key, variant };
}

/** With trigger groups (version 2) it keeps the fields of version 1, for older SDKs. Upstream remote_config.py. */
function recordingOf({ settings }: StoredProject): JsonObject {
  const get = (name: string): Json => own(settings, `session_recording_${name}`) ?? null;
  const groups = get("trigger_groups");
  const listed = isObject(groups) && Array.isArray(groups.groups) ? groups.groups.filter(isObject) : [];
  const replay = settings.session_replay_config;
  const hasCanvas = isObject(replay) && replay.record_canvas === true;
  return {
    ...switchedOn.sessionRecording,
    consoleLogRecordingEnabled: settings.capture_console_log_opt_in === true,
    sampleRate: sampleRate(get("sample_rate")),
    minimumDurationMilliseconds: get("minimum_duration_milliseconds") || null,
    linkedFlag: linkedFlag(get("linked_flag")),
    networkPayloadCapture: get("network_payload_capture_config"),
    masking: get("masking_config"),
    urlTriggers: get("url_trigger_config") ?? [],
    urlBlocklist: get("url_blocklist_config") ?? [],
    eventTriggers: get("event_trigger_config") ?? [],
    triggerMatchType: get("trigger_match_type_config"),
    recordCanvas: hasCanvas,
    canvasFps: hasCanvas ? 3 : null,
    canvasQuality: hasCanvas ? "0.4" : null,
    ...(isObject(groups) && Object.keys(groups).length > 0
      ? { version: 2, triggerGroups: listed.map(triggerGroup) }
      : { version: 1 }),
  };
}

function setting(project: StoredProject, name: string, value: Json): Json {
  const on = name === "sessionRecording" ? recordingOf(project) : features.get(name);
  if (!on) return value;
  if (value === true) return on;
  return isObject(value) ? { ...on, ...value } : value;
}

const hasOf = (rows: readonly { project: number }[], project: number): boolean =>
  rows.some((row) => row.project === project);

function defaults(project: StoredProject, world: ReadonlyWorld): JsonObject {
  const flags = world.feature_flags.filter((flag) => flag.project === project.id);
  return {
    token: project.api_key,
    supportedCompression: ["gzip", "gzip-js"],
    // posthog-js asks /flags only when this is true; an override may stand for a flag that does not exist.
    hasFeatureFlags: flags.some((flag) => flag.active && !flag.deleted) || hasOf(world.flag_overrides, project.id),
    captureDeadClicks: false,
    capturePerformance: false,
    // Absent, it keeps autocapture off for a new visitor.
    autocapture_opt_out: false,
    autocaptureExceptions: false,
    analytics: { endpoint: "/i/v0/e/" },
    elementsChainAsString: true,
    errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
    logs: { captureConsoleLogs: false },
    sessionRecording: project.settings.session_recording_opt_in === true && recordingOf(project),
    heatmaps: false,
    conversations: false,
    surveys: liveResources(world, "surveys", project.id).some(({ fields }) => fields.archived !== true),
    productTours: hasOf(world.product_tours, listsOwner(project)),
    defaultIdentifiedOnly: true,
    siteApps: [],
  };
}

/**
 * A project's remote config, complete: what /array/{token}/config answers and what /decide and /flags merge
 * in. The project's own `remote_config` wins key by key; `sessionRecording` follows from its settings as well.
 * Upstream: PostHog/posthog posthog/models/remote_config.py.
 */
export const remoteConfigOf = (project: StoredProject, world: ReadonlyWorld): JsonObject => ({
  ...defaults(project, world),
  ...Object.fromEntries(
    Object.entries(project.remote_config).map(([name, value]) => [name, setting(project, name, value)]),
  ),
});

function remoteConfigScript(project: StoredProject, world: ReadonlyWorld): string {
  const config = JSON.stringify(remoteConfigOf(project, world));
  const token = JSON.stringify(project.api_key);
  return `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG[${token}]={config:${config},siteApps:[]};})();\n`;
}

function projectInPath(call: Call, desk: Desk): StoredProject {
  const project = projectByHeader(desk, call) ?? desk.projectFor(call.params.token ?? "");
  if (!project) throw new SimError("not_found", "Not found.");
  return project;
}

type Show = (project: StoredProject, world: ReadonlyWorld, scripts: SdkScripts) => Reply | Promise<Reply>;

const showJson: Show = (project, world) => json(remoteConfigOf(project, world));

const showScript: Show = (project, world) => script(remoteConfigScript(project, world));

const showBundle: Show = async (project, world, scripts) => {
  const bundle = await scripts.read("array.js", undefined);
  return script(Buffer.concat([Buffer.from(remoteConfigScript(project, world)), bundle.bytes]));
};

const rows: readonly (readonly [path: string, show: Show, summary: string])[] = [
  ["/array/:token/config", showJson, "Remote config of a project"],
  ["/array/:token/config.js", showScript, "Remote config of a project, as a script"],
  ["/array/:token/array.js", showBundle, "Remote config and SDK bundle in one script"],
];

/** GET /array/{token}/…; no credentials, an unknown key is 404. */
export const remoteConfigEndpoints = (desk: Desk, scripts: SdkScripts): Endpoint[] =>
  rows.map(([path, show, summary]) =>
    serviceRow(path, summary, async (call) => {
      const project = projectInPath(call, desk);
      const reply = fresh(await show(project, desk.worlds.current, scripts));
      call.record.project = project.id;
      return reply;
    }),
  );
