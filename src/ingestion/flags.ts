import { evaluateFlag } from "../flags/evaluate.ts";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { jsonText, type Reply } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Desk } from "../model/desk.ts";
import type { Dialect } from "../model/dialect.ts";
import type { Note } from "../model/traffic.ts";
import type { FeatureFlag, Project } from "../model/world.ts";
import { flagsBodyOf } from "./flags-body.ts";
import { createFlagBook, type FlagBook } from "./flags-book.ts";
import { type FlagsRequest, flagsRequestOf } from "./flags-request.ts";
import { runtimeOf, suitsRuntime } from "./flags-runtime.ts";
import { createShapes, type Result, type Shapes, shapeOf } from "./flags-shapes.ts";
import { subjectOf } from "./flags-subject.ts";
import { remoteConfigOf } from "./sdk/remote-config.ts";

/** What both paths need; made once for all calls. */
interface Service {
  readonly desk: Desk;
  readonly book: FlagBook;
  readonly shapes: Shapes;
  readonly isDecide: boolean;
}

/** How an answer is to look, by its query. */
interface Plan {
  readonly shape: keyof Shapes;
  readonly hasConfig: boolean;
}

function planOf(call: Call, isDecide: boolean): Plan {
  const version = call.query.get("v") ?? call.query.get("version");
  const config = call.query.get("config");
  if (!isDecide && version === null && config === null) return { shape: "details", hasConfig: true };
  const number = version !== null && /^\d{1,9}$/.test(version) ? Number(version) : undefined;
  return { shape: shapeOf(isDecide, number), hasConfig: config === null ? isDecide : config === "true" };
}

/** @throws SimError not_authenticated, authentication_failed */
function projectOf(desk: Desk, token: string | undefined): Project {
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

/** Which flags the request is about. */
function selection(call: Call, request: FlagsRequest): (flag: FeatureFlag) => boolean {
  const runtime = runtimeOf(call, request);
  const isSurveysOnly = call.query.get("only_evaluate_survey_feature_flags") === "true";
  const { flagKeys } = request;
  return (flag) =>
    suitsRuntime(flag, runtime) &&
    (flagKeys === undefined || flagKeys.has(flag.key)) &&
    (!isSurveysOnly || flag.key.startsWith(surveyPrefix));
}

function evaluate(service: Service, call: Call, project: Project, request: FlagsRequest): Result[] {
  if (request.isDisabled) return [];
  const subject = subjectOf(service.desk, project, request, call, distinctIdOf(request));
  const isSelected = selection(call, request);
  const results: Result[] = [];
  for (const compiled of service.book.flagsOf(project.id)) {
    if (isSelected(compiled.flag)) results.push({ compiled, decision: evaluateFlag(compiled, subject) });
  }
  return results;
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
    const project = projectOf(service.desk, request.token);
    note.project = project.id;
    const results = evaluate(service, call, project, request);
    const { shape, hasConfig } = planOf(call, service.isDecide);
    const config = configOf(service, project, hasConfig);
    return { ...answer(service, call, config, service.shapes[shape](results)), note };
  } catch (error) {
    throw error instanceof SimError ? withNote(error, note) : error;
  }
}

/** GET asks about nobody and gets no flags. Upstream as evaluation. */
function stub(service: Service, call: Call): Reply {
  const config = {
    supportedCompression: supportedCompression.production,
    ...basics,
    sessionRecording: false,
  };
  return answer(service, call, config, service.shapes[planOf(call, service.isDecide).shape]([]));
}

/**
 * POST /flags and /decide, and the GET stubs. In the documented dialect /decide has no GET.
 * Upstream PostHog rust/feature-flags, api/endpoint; contract, Flag decision.
 */
export function flagEndpoints(desk: Desk): Endpoint[] {
  const common = { desk, book: createFlagBook(desk.worlds), shapes: createShapes() };
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
