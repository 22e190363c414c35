import { SimError } from "../../base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply, script } from "../../http/reply.ts";
import { listsOwner } from "../../world/project-documents.ts";
import { liveResources } from "../../world/resources.ts";
import type { ReadonlyWorld, StoredProject } from "../../world/world.ts";
import type { Desk } from "../desk.ts";
import { projectByHeader } from "../project.ts";
import { fresh } from "./requests.ts";
import type { SdkScripts } from "./static-scripts.ts";

/**
 * What `true` means for a feature whose setting is an object. An object in a project's `remote_config`
 * is laid over it, so that `{"sessionRecording": {"sampleRate": "0.5"}}` is enough.
 */
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

function setting(name: string, value: Json): Json {
  const on = features.get(name);
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
    hasFeatureFlags:
      flags.some((flag) => flag.active && !flag.deleted) || hasOf(world.flag_overrides, project.id),
    captureDeadClicks: false,
    capturePerformance: false,
    // Absent, it keeps autocapture off for a new visitor.
    autocapture_opt_out: false,
    autocaptureExceptions: false,
    analytics: { endpoint: "/i/v0/e/" },
    elementsChainAsString: true,
    errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
    logs: { captureConsoleLogs: false },
    sessionRecording: false,
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
 * in. The project's own `remote_config` wins key by key.
 * Upstream: PostHog/posthog posthog/models/remote_config.py.
 */
export const remoteConfigOf = (project: StoredProject, world: ReadonlyWorld): JsonObject => ({
  ...defaults(project, world),
  ...Object.fromEntries(
    Object.entries(project.remote_config).map(([name, value]) => [name, setting(name, value)]),
  ),
});

/** The same as a script, in the form that posthog-js looks for before it asks for the JSON. */
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

/** What each path below /array/{token} answers. */
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
  rows.map(([path, show, summary]) => ({
    methods: ["GET"],
    path,
    family: "service",
    summary,
    async handle(call) {
      const project = projectInPath(call, desk);
      const reply = fresh(await show(project, desk.worlds.current, scripts));
      call.record.project = project.id;
      return reply;
    },
  }));
