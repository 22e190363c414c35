import { SimError } from "../../../kernel/base/errors.ts";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { isUuid } from "../../../kernel/base/text.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { jsonText, type Reply } from "../../../kernel/http/reply.ts";
import { slice } from "../../../kernel/http/slice.ts";
import type { Dialect } from "../../../state/documents/dialect.ts";
import type { StoredProject } from "../../../state/documents/world.ts";
import type { Desk } from "../../capture/desk.ts";
import { projectByHeader } from "../../capture/project.ts";
import { remoteConfigOf } from "../../capture/sdk/remote-config.ts";
import type { Rulesets } from "../rulesets.ts";
import { isOfCrawler } from "./crawlers.ts";
import { definitionEndpoints, flagRemoteConfigEndpoints } from "./definitions.ts";
import { isQuotaLimited, quotaLimited } from "./flag-access.ts";
import { createShapes, type FlagsWriter, type Shapes, shapeOf } from "./flags-answer.ts";
import { askedIn, createFailureNotices, evaluate, switchOf } from "./flags-evaluation.ts";
import { checkFields, type FlagsRequest, flagsBodyOf, flagsRequestOf } from "./flags-request.ts";

interface Service {
  readonly desk: Desk;
  readonly rulesets: Rulesets;
  readonly shapes: Shapes;
  readonly isDecide: boolean;
  readonly reportFailures: ReturnType<typeof createFailureNotices>;
}

interface Plan {
  readonly shape: keyof Shapes;
  readonly hasConfig: boolean;
}

const versionOf = (call: Call): string | null => call.query.get("v") ?? call.query.get("version");

function shapeFor(version: string | null, isDecide: boolean): keyof Shapes {
  const number = version !== null && /^\d{1,9}$/.test(version) ? Number(version) : undefined;
  return shapeOf(isDecide, number);
}

/** Without a version and `config`, an evaluation on /flags has the newest shape and the settings. */
function planOf(call: Call, isDecide: boolean): Plan {
  const version = versionOf(call);
  const config = switchOf(call, "config");
  if (!isDecide && version === null && config === undefined) return { shape: "details", hasConfig: true };
  return { shape: shapeFor(version, isDecide), hasConfig: config ?? isDecide };
}

/** @throws SimError not_authenticated, authentication_failed, unknown_project */
function projectOf(desk: Desk, call: Call, token: string | undefined): StoredProject {
  const named = projectByHeader(desk, call);
  if (named) return named;
  if (token === undefined) {
    const detail = "No API token provided. Please include a valid API token in your request.";
    throw new SimError("not_authenticated", detail);
  }
  const project = desk.projectFor(token);
  if (!project) {
    const detail = "The provided API key is invalid or has expired. Please check your API key and try again.";
    throw new SimError("authentication_failed", detail);
  }
  return project;
}

function distinctIdOf(request: FlagsRequest): string {
  if (request.distinctId !== undefined) return request.distinctId;
  const detail = "The distinct_id field is missing from the request. Please include a valid identifier.";
  throw new SimError("missing_distinct_id", detail);
}

function flagMembers(
  service: Service,
  call: Call,
  project: StoredProject,
  request: FlagsRequest,
  shape: FlagsWriter,
): string {
  if (request.isDisabled || isOfCrawler(call, service.desk.dialect)) return shape([]);
  const asked = askedIn(service.desk, call, request, distinctIdOf(request));
  if (isQuotaLimited(project, call)) return `${shape([])},"quotaLimited":${JSON.stringify(quotaLimited)}`;
  return shape(evaluate(service, call, project, request, asked));
}

const supportedCompression: Record<Dialect, string[]> = {
  documented: ["gzip", "lz64"],
  production: ["gzip", "gzip-js"],
};

const basics: JsonObject = { config: { enable_collect_everything: true }, toolbarParams: {}, isAuthenticated: false };

/** The answer's keys that are not about flags. /decide has the contract's ones even with `config=false`. */
function configOf({ desk, isDecide }: Service, project: StoredProject, hasConfig: boolean): JsonObject | undefined {
  const config = hasConfig ? { ...basics, ...remoteConfigOf(project, desk.worlds.current) } : basics;
  if (!isDecide) return hasConfig ? config : undefined;
  const own = project.remote_config.supportedCompression;
  return { ...config, supportedCompression: own ?? supportedCompression[desk.dialect] };
}

/** Members of a JSON object, each followed by a comma. */
function membersOf(object: JsonObject | undefined): string {
  const text = object === undefined ? "{}" : JSON.stringify(object);
  return text === "{}" ? "" : `${text.slice(1, -1)},`;
}

function requestIdOf(call: Call, desk: Desk): string {
  const given = call.headers["x-request-id"];
  return isUuid(given) ? given : desk.ids.uuid();
}

function answer(service: Service, call: Call, config: JsonObject | undefined, shaped: string): Reply {
  const id = requestIdOf(call, service.desk);
  const evaluatedAt = Math.trunc(service.desk.clock.now());
  // The settings come first, so that a project's own settings can never replace the flags.
  return jsonText(`{${membersOf(config)}${shaped},"requestId":"${id}","evaluatedAt":${evaluatedAt}}`);
}

function evaluated(service: Service, call: Call): Reply {
  const { json, steps, text, bytes } = flagsBodyOf(call);
  const { record } = call;
  record.project = null;
  record.steps = steps;
  record.text = text;
  record.bytes = bytes;
  checkFields(json);
  const request = flagsRequestOf(json);
  const project = projectOf(service.desk, call, request.token);
  record.project = project.id;
  const { shape: wanted, hasConfig } = planOf(call, service.isDecide);
  const shape = wanted === "typed" && project.settings.flags_v3_response_enabled !== true ? "details" : wanted;
  const shaped = flagMembers(service, call, project, request, service.shapes[shape]);
  const isMinimal = shape === "details" && project.settings.minimal_flag_called_events === true;
  const gate = isMinimal ? ',"minimalFlagCalledEvents":true' : "";
  return answer(service, call, configOf(service, project, hasConfig), shaped + gate);
}

/** GET has no person and gets no flags; without a version it has the oldest shape. Upstream as evaluation. */
function stub(service: Service, call: Call): Reply {
  const config = { supportedCompression: supportedCompression.production, ...basics, sessionRecording: false };
  return answer(service, call, config, service.shapes[shapeFor(versionOf(call), service.isDecide)]([]));
}

/**
 * POST /flags and /decide, and the GET stubs. In the documented dialect /decide has no GET.
 * Upstream PostHog rust/feature-flags, api/endpoint; contract, Flag decision.
 * @param notice Called once for each flag that cannot be evaluated.
 */
export function flagEndpoints(desk: Desk, rulesets: Rulesets, notice: (text: string) => void = () => {}): Endpoint[] {
  const common = { desk, rulesets, shapes: createShapes(), reportFailures: createFailureNotices(notice) };
  const flags: Service = { ...common, isDecide: false };
  const decide: Service = { ...common, isDecide: true };
  const rows: Endpoint[] = [
    row("POST", "/flags", "Feature flags of a person", (call) => evaluated(flags, call)),
    row("GET", "/flags", "Flagless stub", (call) => stub(flags, call)),
    {
      ...row("POST", "/decide", "Feature flags and settings of a person", (call) => evaluated(decide, call)),
      contract: "POST /decide",
    },
  ];
  if (desk.dialect === "production") {
    rows.push(row("GET", "/decide", "Flagless stub", (call) => stub(decide, call)));
  }
  return rows;
}

const row = (method: string, path: string, summary: string, handle: Endpoint["handle"]): Endpoint => ({
  methods: [method],
  path,
  family: "flags",
  summary,
  handle,
});

interface EvaluationPorts {
  readonly desk: Desk;
  readonly rulesets: Rulesets;
  notice(text: string): void;
}

export const evaluationSlice = slice(["desk", "rulesets", "notice"], ({ desk, rulesets, notice }: EvaluationPorts) => [
  ...flagEndpoints(desk, rulesets, notice),
  ...definitionEndpoints(desk, rulesets),
  ...flagRemoteConfigEndpoints(desk),
]);
