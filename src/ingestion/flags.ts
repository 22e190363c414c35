import { type Asked, subjectOf } from "../flags/ask.ts";
import type { FlagBook } from "../flags/book.ts";
import { createFailureNotices } from "../flags/failure-notices.ts";
import { overridesFor, withOverrides } from "../flags/overrides.ts";
import { evaluateRuleset } from "../flags/ruleset.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { jsonText, type Reply } from "../http/reply.ts";
import { projectByHeader } from "../ingest/project.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Desk } from "../model/desk.ts";
import type { Dialect } from "../model/dialect.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, Project } from "../model/world.ts";
import { addressOf } from "./flags-address.ts";
import { conditionsOf } from "./flags-analysis.ts";
import { flagsBodyOf } from "./flags-body.ts";
import { keepContinuity } from "./flags-continuity.ts";
import { withFailures } from "./flags-failing.ts";
import { isQuotaLimited, quotaLimited } from "./flags-quota.ts";
import { type FlagsRequest, flagsRequestOf } from "./flags-request.ts";
import { runtimeOf, suitsContexts, suitsRuntime } from "./flags-runtime.ts";
import { createShapes, type Result, type Shape, type Shapes, shapeOf } from "./flags-shapes.ts";
import { remoteConfigOf } from "./sdk/remote-config.ts";

/** What both paths need; made once for all calls. */
interface Service {
  readonly desk: Desk;
  readonly book: FlagBook;
  readonly shapes: Shapes;
  readonly isDecide: boolean;
  readonly reportFailures: ReturnType<typeof createFailureNotices>;
}

/** How an answer is to look, by its query. */
interface Plan {
  readonly shape: keyof Shapes;
  readonly hasConfig: boolean;
}

const negative: ReadonlySet<string> = new Set(["false", "0", "no", "off"]);

/** A switch of the query: being there is enough, unless it says no. undefined when it is not there. */
function switchOf(call: Call, name: string): boolean | undefined {
  const value = call.query.get(name);
  return value === null ? undefined : !negative.has(value.toLowerCase());
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
function projectOf(desk: Desk, call: Call, token: string | undefined): Project {
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

const surveyPrefix = "survey-targeting-";

/** Which flags the request is about; encrypted ones are only for the remote config endpoint. */
function selection(call: Call, request: FlagsRequest): (flag: FeatureFlag) => boolean {
  const runtime = runtimeOf(call, request);
  const isSurveysOnly = switchOf(call, "only_evaluate_survey_feature_flags") === true;
  return (flag) =>
    suitsRuntime(flag, runtime) &&
    suitsContexts(flag, request.contexts) &&
    !flag.has_encrypted_payloads &&
    (!isSurveysOnly || flag.key.startsWith(surveyPrefix));
}

const askedIn = ({ geoip }: Desk, call: Call, request: FlagsRequest, distinctId: string): Asked => ({
  distinctId,
  deviceId: request.deviceId,
  anonymousId: request.anonymousId,
  personProperties: request.personProperties,
  groups: request.groups,
  groupProperties: request.groupProperties,
  address: geoip.isEmpty ? undefined : addressOf(call),
  isGeoipDisabled: request.isGeoipDisabled,
  isStoredIgnored: switchOf(call, "only_use_override_person_properties") === true,
});

function evaluate(
  { desk, book, reportFailures }: Service,
  call: Call,
  project: Project,
  request: FlagsRequest,
  asked: Asked,
) {
  const { distinctId, anonymousId } = asked;
  const { flagKeys: keys } = request;
  const isSelected = selection(call, request);
  if (anonymousId !== undefined) {
    const isAsked = (key: string) => keys === undefined || keys.has(key);
    keepContinuity(
      desk.people,
      book.rulesetOf(project),
      project.id,
      { distinctId, anonymousId },
      (it) => isAsked(it.flag.key) && isSelected(it.flag),
    );
  }
  const overrides = overridesFor(desk.worlds, project.id, distinctId);
  const ruleset = book.overriddenRulesetOf(project, overrides);
  const subject = subjectOf(desk, project, asked);
  const decided = withOverrides(evaluateRuleset(ruleset, subject, { keys, isSelected }), overrides);
  reportFailures(decided, project, desk.worlds.current.projects.length > 1);
  const results = call.fault?.flags === undefined ? decided : withFailures(decided, call.fault.flags);
  if (switchOf(call, "detailed_analysis") !== true) return results;
  return results.map((result): Result => {
    const { flag } = result.compiled;
    if (result.decision.failed) return result;
    return { ...result, conditions: overrides.has(flag.key) ? [] : conditionsOf(ruleset, flag, subject) };
  });
}

/** What came of the flags, as members of the answer. */
function flagMembers(
  service: Service,
  call: Call,
  project: Project,
  request: FlagsRequest,
  shape: Shape,
): string {
  if (request.isDisabled) return shape([]);
  const asked = askedIn(service.desk, call, request, distinctIdOf(request));
  if (isQuotaLimited(project, call)) return `${shape([])},"quotaLimited":${JSON.stringify(quotaLimited)}`;
  return shape(evaluate(service, call, project, request, asked));
}

const supportedCompression: Record<Dialect, string[]> = {
  documented: ["gzip", "lz64"],
  production: ["gzip", "gzip-js"],
};

const basics: JsonObject = {
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
};

/** The answer's keys that are not about flags. /decide has the contract's ones even with `config=false`. */
function configOf({ desk, isDecide }: Service, project: Project, hasConfig: boolean): JsonObject | undefined {
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
  // The settings come first, so that a project's own can never replace the flags.
  return jsonText(`{${membersOf(config)}${shaped},"requestId":"${id}","evaluatedAt":${evaluatedAt}}`);
}

function evaluated(service: Service, call: Call): Reply<Note> {
  const body = flagsBodyOf(call);
  const note: Note = { project: null, steps: body.steps, text: body.text };
  try {
    const request = flagsRequestOf(body.json);
    const project = projectOf(service.desk, call, request.token);
    note.project = project.id;
    const { shape, hasConfig } = planOf(call, service.isDecide);
    const shaped = flagMembers(service, call, project, request, service.shapes[shape]);
    return { ...answer(service, call, configOf(service, project, hasConfig), shaped), note };
  } catch (error) {
    throw error instanceof SimError ? withNote(error, note) : error;
  }
}

/** GET names no person and gets no flags; without a version it has the oldest shape. Upstream as evaluation. */
function stub(service: Service, call: Call): Reply {
  const config = {
    supportedCompression: supportedCompression.production,
    ...basics,
    sessionRecording: false,
  };
  return answer(service, call, config, service.shapes[shapeFor(versionOf(call), service.isDecide)]([]));
}

/**
 * POST /flags and /decide, and the GET stubs. In the documented dialect /decide has no GET.
 * Upstream PostHog rust/feature-flags, api/endpoint; contract, Flag decision.
 * @param notice Called once for each flag that cannot be evaluated.
 */
export function flagEndpoints(
  desk: Desk,
  book: FlagBook,
  notice: (text: string) => void = () => {},
): Endpoint[] {
  const common = { desk, book, shapes: createShapes(), reportFailures: createFailureNotices(notice) };
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
