import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { parseBounded } from "../../../kernel/base/json-bounds.ts";
import { gunzipWithin, isGzip } from "../../../kernel/codec/inflate.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { bearerOf, queryToken } from "../../../kernel/http/call.ts";
import { defaultBodyLimit, type Endpoint } from "../../../kernel/http/endpoint.ts";
import { json, type Reply, withHeaders } from "../../../kernel/http/reply.ts";
import { grants, isOutOfReach } from "../../../state/documents/access.ts";
import type { PersonalApiKey, StoredProject } from "../../../state/documents/world.ts";
import type { DecodeStep } from "../../../state/journal/request-shapes.ts";
import type { Desk } from "../desk.ts";
import { projectByHeader } from "../project.ts";

/** A row of the SDKs' endpoints. */
export const serviceRow = (path: string, summary: string, handle: Endpoint["handle"], methods = "GET"): Endpoint => ({
  methods: methods.split(" "),
  path,
  family: "service",
  summary,
  handle,
});

/** Answers follow the world document, which may change at any time: no client may keep a copy unasked. */
export const fresh = (reply: Reply): Reply => withHeaders(reply, "cache-control", "no-cache");

export const answered = (value: object): Reply => fresh(json(value));

export function noteBody({ record }: Call, body: JsonBody | undefined): void {
  if (body) Object.assign(record, { steps: body.steps, text: body.text });
}

export interface JsonBody {
  json: Json;
  /** The JSON text on one line, for the journal. */
  text: string;
  steps: DecodeStep[];
}

const inflate = (bytes: Buffer): Buffer =>
  gunzipWithin(bytes, defaultBodyLimit, (isTooLarge, cause) =>
    isTooLarge
      ? new SimError("payload_too_large", "The decompressed body is larger than 20 MB.", { cause })
      : new SimError("parse_error", "The body is not valid gzip.", { cause }),
  );

function parse(text: string): Json | undefined {
  try {
    const value = parseBounded(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The body as JSON, or undefined. Gzip shows in its first bytes. @throws SimError payload_too_large, parse_error */
export function jsonBodyOf(call: Call): JsonBody | undefined {
  const packed = isGzip(call.body);
  const text = (packed ? inflate(call.body) : call.body).toString("utf8");
  const json = parse(text);
  if (json === undefined) return undefined;
  const line = /[\r\n]/.test(text) ? JSON.stringify(json) : text;
  return { json, text: line, steps: packed ? ["gzip"] : [] };
}

/** The body as a JSON object. @throws SimError parse_error when it is anything else, payload_too_large */
export function objectBodyOf(call: Call): JsonBody & { json: JsonObject } {
  const body = jsonBodyOf(call);
  if (!body || !isObject(body.json)) throw new SimError("parse_error", "The body has to be a JSON object.");
  return { ...body, json: body.json };
}

export function textField(object: JsonObject, key: string): string | undefined {
  const value = own(object, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A field's text. @throws SimError required */
export function requiredText(object: JsonObject, key: string): string {
  const value = textField(object, key);
  if (value === undefined) throw new SimError("required", "This field is required.", { attr: key });
  return value;
}

/** The project of a public key, or of the header. @throws SimError missing_api_key, invalid_api_key, unknown_project */
export function projectOfToken(desk: Desk, call: Call, token: string | undefined): StoredProject {
  const project = projectByHeader(desk, call) ?? projectOfGiven(desk, token);
  call.record.project = project.id;
  return project;
}

function projectOfGiven(desk: Desk, token: string | undefined): StoredProject {
  if (!token) {
    throw new SimError(
      "missing_api_key",
      "Project token not provided. You can find your project token in PostHog project settings.",
    );
  }
  return projectOfKey(desk, token);
}

function projectOfKey(desk: Desk, token: string): StoredProject {
  const project = desk.projectFor(token);
  if (!project) {
    throw new SimError(
      "invalid_api_key",
      "Project token invalid. You can find your project token in PostHog project settings.",
    );
  }
  return project;
}

/** The project of the path's `:project_id` (a number or `@current`), narrowed by `?token=`. */
function namedProject(call: Call, desk: Desk): StoredProject | undefined {
  const token = queryToken(call);
  if (token) return projectOfKey(desk, token);
  const id = call.params.project_id ?? "";
  if (id === "@current") return desk.worlds.current.projects[0];
  return /^\d+$/.test(id) ? desk.worlds.projectById(Number(id)) : undefined;
}

/** The project of a call with a personal key that has the scope, or with the project's secret key. @throws SimError */
export function privateProject(call: Call, desk: Desk, scope: string): StoredProject {
  const text = bearerOf(call);
  if (!text) throw new SimError("not_authenticated", "Authentication credentials were not provided.");
  const owner = desk.keys.secretOwner(text, call);
  const key = owner ? undefined : personalKey(call, desk, text, scope);
  const isNamed = call.params.project_id !== "@current" || queryToken(call) !== undefined;
  const project = isNamed || !owner ? namedProject(call, desk) : owner;
  if (!project) throw new SimError("not_found", "Not found.");
  if ((owner && project !== owner) || (key && isOutOfReach(desk.worlds.current, key, project))) {
    throw new SimError("permission_denied", "You don't have access to the project.");
  }
  call.record.project = project.id;
  return project;
}

/** A personal key that has the scope; a project's secret key needs none, it belongs to one project. */
function personalKey(call: Call, desk: Desk, text: string, scope: string): PersonalApiKey {
  const found = desk.keys.personal(text, call);
  if (!found) throw new SimError("authentication_failed", "Personal API key is invalid.");
  if (!grants(found, scope)) {
    throw new SimError("permission_denied", `API key missing required scope '${scope}'`);
  }
  return found;
}
