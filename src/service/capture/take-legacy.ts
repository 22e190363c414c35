import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { itemsPerStep, type Work } from "../../kernel/base/work.ts";
import type { Call, CallRecord } from "../../kernel/http/call.ts";
import { empty, jsonText, type Reply } from "../../kernel/http/reply.ts";
import type { Dialect } from "../../state/documents/dialect.ts";
import { isEngage, type Opened, openLegacy } from "../../state/journal/items.ts";
import type { DecodeStep } from "../../state/journal/request-shapes.ts";
import type { JsonText } from "../../state/journal/traffic.ts";
import { type Admission, admitLegacy } from "./admit-legacy.ts";
import { decideItems } from "./decide.ts";
import { decodeLegacy } from "./decode.ts";
import type { Desk } from "./desk.ts";
import type { Item } from "./item.ts";
import { batchToken, commonToken, sentAtOf } from "./open.ts";
import { decodedLimits, type Packet } from "./packet.ts";
import { legacyProject, projectByHeader } from "./project.ts";

const mismatch = "failed to parse request: data did not match any variant of untagged enum RawRequest";
const unparsable = (what: string): SimError => new SimError("unparsable_payload", `${mismatch}: ${what}`);

/** Names of one field: serde refuses an object that has two of them. Upstream common/types event.rs. */
const aliases: readonly (readonly string[])[] = [
  ["token", "$token", "api_key"],
  ["distinct_id", "$distinct_id"],
];

function checkAliases(item: Json, index: number): void {
  if (!isObject(item)) return;
  for (const names of aliases) {
    const [first, second] = names.filter((name) => Object.hasOwn(item, name));
    if (second !== undefined) throw unparsable(`item ${index}: ${first} and ${second} are the same field`);
  }
}

function checkEnvelope({ historical_migration, sent_at, token, api_key }: JsonObject): void {
  if (historical_migration !== undefined && typeof historical_migration !== "boolean")
    throw unparsable("historical_migration is not a boolean");
  if (sent_at !== undefined && sent_at !== null && typeof sent_at !== "string")
    throw unparsable("sent_at is not a string");
  if (token !== undefined && api_key !== undefined) throw unparsable("token and api_key are the same field");
}

/** Fields of an event that serde refuses twice. */
const fields: ReadonlySet<string> = new Set([
  ..."event properties timestamp offset uuid $set $set_once".split(" "),
  ...aliases.flat(),
]);

const tokens = /"((?:[^"\\]|\\.)*)"(\s*:)?|[[\]{}]/g;

/** The first field that stands twice in one event of the text. */
function repeatedField(text: string): string | undefined {
  /** The open containers: the names of an object so far, or `[`. */
  const open: (Set<string> | "[")[] = [];
  const isEvent = (): boolean => open.length === 1 || (open.length <= 3 && open.at(-2) === "[");
  for (const [token, name = "", colon] of text.matchAll(tokens)) {
    const top = open.at(-1);
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push("[");
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined && top instanceof Set && fields.has(name) && isEvent()) {
      if (top.has(name)) return name;
      top.add(name);
    }
  }
  return undefined;
}

const isOutOfRange = (value: Json): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(isOutOfRange)
    : typeof value === "number" && !Number.isFinite(value);

/** What the service's parser refuses and JSON.parse takes (dialect row strict_json). @throws SimError */
function checkStrictly({ items, envelope }: Opened, text: string): void {
  const field = repeatedField(text);
  if (field !== undefined) throw unparsable(`duplicate field \`${field}\``);
  if (/[eE]\+?\d{3}/.test(text) && items.some(isOutOfRange)) throw unparsable("number out of range");
  if (envelope) checkEnvelope(envelope);
  for (const [index, item] of items.entries()) checkAliases(item, index);
}

/** The answer to a request whose events were taken; `?beacon=1` asks for none. */
export const accepted = (call: Call): Reply =>
  call.query.size > 0 && call.query.get("beacon") === "1" ? empty(204) : jsonText('{"status":"Ok"}');

export function noteBody(record: CallRecord, json: JsonText | undefined, steps: DecodeStep[]): void {
  if (steps.length > 0) record.steps = steps;
  if (json === undefined) return;
  record.text = json.text;
  record.bytes = json.bytes;
  if (json.redacted) record.redacted = true;
}

/** The body's JSON. It is decoded once: a fault, a tape or a recording may have asked for it before. */
export function* decodeBody(packet: Packet, limit: number): Work<JsonText> {
  const { record } = packet;
  const { decoded } = record;
  if (decoded?.json && decoded.json.size <= limit) {
    noteBody(record, decoded.json, decoded.steps);
    return decoded.json;
  }
  const steps: DecodeStep[] = [];
  let json: JsonText | undefined;
  try {
    json = yield* decodeLegacy(packet, limit, steps, true);
    return json;
  } finally {
    noteBody(record, json, steps);
  }
}

/** Cuts a decoded body into items. @throws SimError unparsable_payload, empty_batch */
export function openBody(body: Json, path: string): Opened {
  if (!Array.isArray(body) && !isObject(body)) {
    throw new SimError("unparsable_payload", mismatch);
  }
  const opened = openLegacy(body, isEngage(path));
  if (opened.items.length === 0) throw new SimError("empty_batch", "request holds no event");
  return opened;
}

/** The project of the items; null: events of an unknown key, which are dropped. */
export function findProject(desk: Desk, opened: Opened, packet: Packet): number | null {
  const project = projectByHeader(desk, packet) ?? legacyProject(desk, tokenOf(opened));
  packet.record.project = project?.id ?? null;
  return packet.record.project;
}

const tokenOf = ({ envelope, items }: Opened): string => (envelope ? batchToken(envelope) : commonToken(items));

/** Reads all items; `production` refuses the request where `documented` drops an item. */
export function* admitAll(opened: Opened, packet: Packet, dialect: Dialect): Work<Item[]> {
  const sentAt = sentAtOf(opened, packet.query);
  const admission: Admission = { dialect, at: packet.at, sentAt };
  const items: Item[] = [];
  for (let from = 0; from < opened.items.length; from += itemsPerStep) {
    if (from > 0) yield;
    admitStep(opened.items, from, admission, items);
  }
  return items;
}

function admitStep(raw: readonly Json[], from: number, admission: Admission, items: Item[]): void {
  const end = Math.min(from + itemsPerStep, raw.length);
  for (let i = from; i < end; i++) items.push(admitLegacy(raw[i] ?? null, i, admission));
}

const isAiEvent = (item: Item): boolean => item.dropped !== undefined || item.event.startsWith("$ai_");

/** The lane for LLM events refuses a request that holds any other. */
function refuseOthers(items: readonly Item[]): void {
  if (items.every(isAiEvent)) return;
  throw new SimError("not_an_ai_event", "non-AI event submitted to the AI endpoint");
}

/** Decode, open, admit, persons and groups, facts. @throws SimError (upstream capture, api.rs) */
export function* takeLegacy(desk: Desk, packet: Packet, lane: "any" | "ai" = "any"): Work<void> {
  const { record } = packet;
  record.shape = "legacy";
  const { value, text, hasExactIds } = yield* decodeBody(packet, decodedLimits.legacy);
  const opened = openBody(value, packet.path);
  if (desk.dialect === "production") checkStrictly(opened, text);
  const project = findProject(desk, opened, packet);
  const items = yield* admitAll(opened, packet, desk.dialect);
  if (hasExactIds) for (const item of items) item.hasOwnId = true;
  if (lane === "ai") refuseOthers(items);
  record.events = yield* decideItems(desk, project, items, packet);
  record.keys = items;
}
