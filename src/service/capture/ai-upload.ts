import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { maskKeys } from "../../kernel/base/secrets.ts";
import { atOnce, inSlices, type Work } from "../../kernel/base/work.ts";
import { inflated, undecodable } from "../../kernel/codec/inflate.ts";
import { isJsonType } from "../../kernel/codec/media-type.ts";
import { boundaryOf, type MultipartPart, readParts } from "../../kernel/codec/multipart.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { json } from "../../kernel/http/reply.ts";
import { openLegacy } from "../../state/journal/items.ts";
import { decideItems } from "./decide.ts";
import type { Desk } from "./desk.ts";
import { parseJson, utf8Text } from "./json-text.ts";
import type { Packet } from "./packet.ts";
import { bearerProject } from "./project.ts";
import { admitAll } from "./take-legacy.ts";

const mebibyte = 1024 * 1024;
const decodedLimit = 25 * mebibyte;
const blobPrefix = "event.properties.";

interface AcceptedPart {
  name: string;
  length: number;
  "content-type": string | null;
  "content-encoding": string | null;
}

function jsonOf(part: MultipartPart, title: string): Json {
  try {
    return atOnce(parseJson(part.content)).value;
  } catch (cause) {
    throw cause instanceof SimError && cause.code === "undecodable_payload"
      ? undecodable(`${title} part must be valid UTF-8`)
      : undecodable(`${title} part must be valid JSON`);
  }
}

/** JSON and text blobs are kept in the event; of others, what they were. */
function blobValue({ type = "application/octet-stream", content }: MultipartPart): Json {
  if (isJsonType(type)) return atOnce(parseJson(content)).value;
  return type.startsWith("text/") ? utf8Text(content) : { content_type: type, bytes: content.length };
}

function blobs(parts: readonly MultipartPart[]): [string, Json][] {
  const found = new Map<string, Json>();
  for (const part of parts) {
    if (!part.name.startsWith(blobPrefix)) continue;
    if (found.has(part.name)) throw undecodable(`Duplicate blob property: ${part.name}`);
    found.set(part.name, blobValue(part));
  }
  return [...found].map(([name, value]) => [name.slice(blobPrefix.length), value]);
}

function assembled(parts: readonly MultipartPart[]): JsonObject {
  const [first] = parts;
  if (first === undefined) throw undecodable("Missing required 'event' part in multipart data");
  if (first.name !== "event") throw undecodable(`First part must be 'event', got '${first.name}'`);
  const event = jsonOf(first, "Event");
  if (!isObject(event)) throw undecodable("Event must be a JSON object");
  const separate = parts.find((part) => part.name === "event.properties");
  if (separate && event.properties !== undefined) {
    throw undecodable("Event cannot have both embedded properties and a separate 'event.properties' part");
  }
  const properties = separate ? jsonOf(separate, "Properties") : (event.properties ?? {});
  if (!isObject(properties)) throw undecodable("Event missing 'properties' field");
  return { ...event, properties: { ...properties, ...Object.fromEntries(blobs(parts)) } };
}

const isFilled = (value: Json | undefined): boolean => typeof value === "string" && value !== "";

/** Upstream capture, ai_endpoint.rs (validate_event_structure), in its order. */
function checkEvent({ event, distinct_id, properties }: JsonObject): void {
  if (typeof event !== "string") throw undecodable("Event missing 'event' field");
  if (event === "") throw undecodable("Event name cannot be empty");
  if (!event.startsWith("$ai_")) throw undecodable(`Event name must start with '$ai_', got '${event}'`);
  if (typeof distinct_id !== "string") throw undecodable("Event missing 'distinct_id' field");
  if (distinct_id === "") throw undecodable("distinct_id cannot be empty");
  const model = isObject(properties) ? properties.$ai_model : undefined;
  if (model === undefined) throw undecodable("Event properties must contain '$ai_model'");
  if (!isFilled(model)) throw undecodable("$ai_model must be a non-empty string");
}

const acceptedPart = (part: MultipartPart): AcceptedPart => ({
  name: part.name,
  length: part.content.length,
  "content-type": part.type ?? null,
  "content-encoding": part.encoding ?? null,
});

/** Takes in one LLM event: a part `event`, perhaps its properties, and blobs. The journal keeps the whole event. */
function* takeAiUpload(desk: Desk, packet: Packet): Work<AcceptedPart[]> {
  const { headers, body, record } = packet;
  if (body.length === 0) throw new SimError("missing_payload", "request missing data payload");
  const isPacked = headers["content-encoding"]?.toLowerCase() === "gzip";
  if (isPacked) record.steps = ["gzip"];
  const bytes = isPacked ? yield* inflated("gzip", body, decodedLimit) : body;
  yield;
  const boundary = boundaryOf(headers["content-type"] ?? "");
  const project = bearerProject(desk, packet);
  const parts = readParts(bytes, boundary);
  yield;
  const event = assembled(parts);
  yield;
  checkEvent(event);
  record.text = JSON.stringify(event);
  const readable = bytes.toString("latin1");
  if (maskKeys(readable) !== readable) record.redacted = true;
  const items = yield* admitAll(openLegacy(event, false), packet, desk.dialect);
  record.events = yield* decideItems(desk, project, items, packet);
  record.keys = items;
  return parts.map(acceptedPart);
}

/** 25 MiB of parts and a tenth for what is between them, as upstream. */
const bodyLimit = 27.5 * mebibyte;

export const aiUploadEndpoint = (desk: Desk): Endpoint => ({
  methods: ["POST"],
  path: "/i/v0/ai",
  family: "capture",
  summary: "Captures one LLM event sent as multipart",
  bodyLimit,
  handle: (call) =>
    inSlices(
      (function* () {
        return json({ accepted_parts: yield* takeAiUpload(desk, call) });
      })(),
    ),
});
