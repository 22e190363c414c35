import { SimError } from "../kernel/errors.ts";
import { isObject, type Json } from "../kernel/json.ts";
import { itemsPerStep, type Work } from "../kernel/work.ts";
import type { Desk } from "../model/desk.ts";
import type { Dialect } from "../model/dialect.ts";
import type { DecodeStep, Note } from "../model/traffic.ts";
import { type Admission, admitLegacy } from "./admit-legacy.ts";
import { decodeLegacy } from "./decode.ts";
import { batchToken, sentAtOf } from "./envelope.ts";
import type { Item } from "./item.ts";
import { isEngage, type Opened, openLegacy } from "./open.ts";
import { decodedLimits, type Packet } from "./packet.ts";
import { legacyProject, projectByHeader } from "./project.ts";
import { record } from "./record.ts";
import { commonToken } from "./token.ts";

/** Decodes into the note: what is known there stays known when a later step fails. */
export function* decodeInto(note: Note, packet: Packet, limit: number, mayWait = true): Work<Json> {
  const steps: DecodeStep[] = [];
  try {
    const { text, bytes, value, redacted } = yield* decodeLegacy(packet, limit, steps, mayWait);
    note.text = text;
    note.bytes = bytes;
    if (redacted) note.redacted = true;
    return value;
  } finally {
    if (steps.length > 0) note.steps = steps;
  }
}

/** Cuts a decoded body into items. @throws SimError unparsable_payload, empty_batch */
export function openInto(body: Json, path: string): Opened {
  if (!Array.isArray(body) && !isObject(body)) {
    const text = "failed to parse request: data did not match any variant of untagged enum RawRequest";
    throw new SimError("unparsable_payload", text);
  }
  const opened = openLegacy(body, isEngage(path));
  if (opened.items.length === 0) throw new SimError("empty_batch", "request holds no event");
  return opened;
}

/** Finds the project; the note has its id from here on. */
export function projectInto(note: Note, desk: Desk, opened: Opened, packet: Packet): number | null {
  const project = projectByHeader(desk, packet) ?? legacyProject(desk, tokenOf(opened));
  note.project = project?.id ?? null;
  return note.project;
}

const tokenOf = ({ envelope, items }: Opened): string =>
  envelope ? batchToken(envelope) : commonToken(items);

/** Reads all items; `production` refuses the request where `documented` drops an item. */
export function* admitAll(opened: Opened, packet: Packet, dialect: Dialect): Work<Item[]> {
  const sentAt = sentAtOf(opened, packet.query);
  const admission: Admission = { dialect, at: packet.at, sentAt };
  const items: Item[] = [];
  for (const raw of opened.items) {
    items.push(admitLegacy(raw, items.length, admission));
    if (items.length % itemsPerStep === 0) yield;
  }
  return items;
}

const isAiEvent = (item: Item): boolean => item.dropped !== undefined || item.event.startsWith("$ai_");

/** The lane for LLM events refuses a request that holds any other. */
function refuseOthers(items: readonly Item[]): void {
  if (items.every(isAiEvent)) return;
  throw new SimError("not_an_ai_event", "non-AI event submitted to the AI endpoint");
}

/**
 * Takes in a request of the legacy endpoints: decode, open, admit, persons and groups, facts. What is
 * found out is written into `note`, which the journal keeps; it is there, too, when this throws.
 * @throws SimError with the service's texts (upstream capture, api.rs)
 */
export function* takeLegacy(desk: Desk, packet: Packet, note: Note, lane: "any" | "ai" = "any"): Work<void> {
  note.shape = "legacy";
  const opened = openInto(yield* decodeInto(note, packet, decodedLimits.legacy), packet.path);
  const project = projectInto(note, desk, opened, packet);
  const items = yield* admitAll(opened, packet, desk.dialect);
  if (lane === "ai") refuseOthers(items);
  note.events = yield* record(desk, project, items, packet);
  note.keys = items;
}
