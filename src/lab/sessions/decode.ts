import { SimError } from "../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { mostNodes, type NodeRoom, TooManyLevels, TooManyNodes } from "../../kernel/base/json-bounds.ts";
import { parsingJson } from "../../kernel/base/json-turns.ts";
import { atOnce, bytesPerStep, type Work } from "../../kernel/base/work.ts";
import { gunzip } from "../../kernel/codec/inflate.ts";
import { type LossReason, type RecordedEvent, recordedSources, recordedTypes } from "./rrweb.ts";

interface Loss {
  readonly reason: LossReason;
  /** What was lost: `full snapshot`, `adds of a mutation` … */
  readonly what: string;
  count: number;
}

export interface DecodedPart {
  readonly events: readonly RecordedEvent[];
  readonly losses: readonly Loss[];
  /** Characters after decompression. */
  readonly size: number;
}

/** Most that one part may decompress to, in characters: a small string can hold gigabytes. */
const largestPart = 32 * 1024 * 1024;
/** A page may have 512 levels of elements, each with two levels of JSON. */
const deepest = 1_500;

interface Room {
  /** Characters. */
  left: number;
  readonly nodes: NodeRoom;
}

class Unreadable extends Error {
  readonly reason: LossReason;
  constructor(reason: LossReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Above this a string has characters that are not bytes. */
const highestByte = /[\u0100-\uffff]/;

/** A value that posthog-js has compressed: gzip, its bytes written as characters. @throws Unreadable */
function* unpacked(packed: string, room: Room): Work<Json> {
  if (highestByte.test(packed)) throw new Unreadable("bad_gzip");
  if (room.left <= 0) throw new Unreadable("too_large");
  let text: string;
  try {
    text = gunzip(Buffer.from(packed, "latin1"), room.left).toString("utf8");
  } catch (error) {
    const isTooLarge = error instanceof SimError && error.code === "payload_too_large";
    // what does not fit uses up the room: each further attempt would cost as much
    if (isTooLarge) room.left = 0;
    throw new Unreadable(isTooLarge ? "too_large" : "bad_gzip");
  }
  room.left -= text.length;
  if (text.length > bytesPerStep) yield undefined;
  try {
    return yield* parsingJson(text, deepest, room.nodes);
  } catch (error) {
    if (error instanceof TooManyLevels) throw new Unreadable("too_deep");
    throw new Unreadable(error instanceof TooManyNodes ? "too_large" : "bad_json");
  }
}

/** Fields that posthog-js compresses one by one (`cv: "2024-10"`), and their names in messages. */
const packedFields: Readonly<Record<number, { of: string; fields: readonly string[] }>> = {
  [recordedSources.mutation]: { of: "a mutation", fields: ["texts", "attributes", "removes", "adds"] },
  [recordedSources.styleRule]: { of: "a style rule", fields: ["adds", "removes"] },
};

function lose(losses: Loss[], reason: LossReason, what: string): void {
  const known = losses.find((it) => it.reason === reason && it.what === what);
  if (known) known.count++;
  else losses.push({ reason, what, count: 1 });
}

const reasonOf = (error: unknown): LossReason => {
  if (error instanceof Unreadable) return error.reason;
  throw error;
};

/** The data of an incremental event with its compressed fields unpacked; a damaged field becomes empty. */
function* withFields(data: JsonObject, losses: Loss[], room: Room): Work<JsonObject> {
  const packed = typeof data.source === "number" ? packedFields[data.source] : undefined;
  if (!packed) return data;
  const whole = { ...data };
  for (const field of packed.fields) {
    const value = data[field];
    if (Array.isArray(value) || value === undefined || value === null) continue;
    try {
      const list = typeof value === "string" ? yield* unpacked(value, room) : value;
      if (!Array.isArray(list)) throw new Unreadable("bad_json");
      whole[field] = list;
      yield undefined;
    } catch (error) {
      lose(losses, reasonOf(error), `${field} of ${packed.of}`);
      whole[field] = [];
    }
  }
  return whole;
}

const nameOf = (type: unknown): string => (type === recordedTypes.full ? "full snapshot" : "event");

function* decoded(item: Json, losses: Loss[], room: Room): Work<RecordedEvent | undefined> {
  const { type, timestamp, data } = isObject(item) ? item : {};
  if (typeof type !== "number" || typeof timestamp !== "number" || !Number.isFinite(timestamp)) {
    lose(losses, "not_an_event", "event");
    return undefined;
  }
  try {
    const whole = typeof data === "string" ? yield* unpacked(data, room) : (data ?? {});
    if (!isObject(whole)) throw new Unreadable("not_an_event");
    if (typeof data === "string") yield undefined;
    const complete = type === recordedTypes.incremental ? yield* withFields(whole, losses, room) : whole;
    if (isTooDeep(complete, deepest)) throw new Unreadable("too_deep");
    return { type, timestamp, data: complete };
  } catch (error) {
    lose(losses, reasonOf(error), nameOf(type));
    return undefined;
  }
}

/** Decodes one part of a recording; other calls may have a turn after each value that is unpacked. */
export function* decoding(items: readonly Json[], largest: number = largestPart): Work<DecodedPart> {
  const losses: Loss[] = [];
  const room: Room = { left: largest, nodes: { left: mostNodes } };
  const events: RecordedEvent[] = [];
  for (const item of items) {
    const event = yield* decoded(item, losses, room);
    if (event) events.push(event);
    yield undefined;
  }
  return { events, losses, size: largest - Math.max(0, room.left) };
}

/** The events of one part of a recording, at once: what can be read, and what is missing. */
export const decodePart = (items: readonly Json[], largest?: number): DecodedPart => atOnce(decoding(items, largest));
