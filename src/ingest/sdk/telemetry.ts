import { SimError } from "../../base/errors.ts";
import type { Call } from "../../http/call.ts";
import { bearerOf, queryToken } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import type { Desk } from "../desk.ts";
import { type JsonBody, jsonBodyOf, noteBody, projectOfToken } from "./requests.ts";

/** OTLP over HTTP, as JSON or protobuf. The request stays in the journal; nothing is evaluated. */
const rows: readonly (readonly [path: string, summary: string])[] = [
  ["/i/v1/logs", "OTLP logs"],
  ["/i/v1/metrics", "OTLP metrics"],
  ["/i/v1/traces", "OTLP traces"],
  ["/i/v0/ai/otel", "OTLP traces of AI applications"],
];

const protobufType = "application/x-protobuf";

const isOf = (call: Call, type: string): boolean => call.headers["content-type"]?.startsWith(type) === true;

/** OTLP: the answer has the type of the request; an empty protobuf message has no bytes. */
const accepted = (call: Call): Reply =>
  isOf(call, protobufType)
    ? { status: 200, headers: ["content-type", protobufType], body: Buffer.alloc(0) }
    : json({});

/** Undefined when it is no JSON and does not claim to be. */
function readBody(call: Call): JsonBody | undefined {
  const body = isOf(call, protobufType) ? undefined : jsonBodyOf(call);
  if (!body && isOf(call, "application/json"))
    throw new SimError("parse_error", "The body is not valid JSON.");
  return body;
}

function accept(call: Call, desk: Desk): Reply {
  projectOfToken(desk, call, queryToken(call) ?? bearerOf(call));
  noteBody(call, readBody(call));
  return accepted(call);
}

/** POST /i/v1/logs and its likes; the project key is in `?token=` or a bearer header. */
export const telemetryEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(([path, summary]) => ({
    methods: ["POST"],
    path,
    family: "service",
    summary,
    handle: (call) => accept(call, desk),
  }));
