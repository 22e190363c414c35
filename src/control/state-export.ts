import { setImmediate as turn } from "node:timers/promises";
import type { Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { memoryBytes } from "../store/bytes.ts";
import { textsOf } from "../store/lines.ts";
import type { ControlDesk } from "./desk.ts";

type ExportDesk = Pick<ControlDesk, "worlds" | "people" | "log" | "clock">;

/** A state is one JSON text, which has to fit into memory several times. */
export const largestState = 200 * 1024 * 1024;

const tooLarge = (): SimError =>
  new SimError("conflict", `the state is larger than ${largestState / 1024 / 1024} MB as JSON`, {
    hint: "clear events first (DELETE /__sim/events), or copy the data folder of a stopped sim",
  });

function* peopleTexts({ people }: ExportDesk): Generator<string> {
  const lines = memoryBytes();
  people.copyInto(lines);
  for (const { text } of textsOf(lines, 0)) if (text !== undefined) yield text;
}

function* journalTexts({ log }: ExportDesk): Generator<string> {
  for (const { text, isCleared } of log.texts()) yield isCleared ? `{"cleared":true,${text.slice(1)}` : text;
}

/** Puts the texts of a list's items together. */
function* listed(items: Iterable<string>): Generator<string> {
  let between = "[";
  for (const item of items) {
    yield between + item;
    between = ",\n";
  }
  yield between === "[" ? "[]" : "]";
}

function* stateTexts(desk: ExportDesk): Generator<string> {
  yield `{"phx_sim_state":1,"saved_at":"${new Date(desk.clock.now()).toISOString()}","world":`;
  yield JSON.stringify(desk.worlds.current);
  yield ',\n"people":';
  yield* listed(peopleTexts(desk));
  yield ',\n"journal":';
  yield* listed(journalTexts(desk));
  yield "}\n";
}

/** Texts are put together in pieces of about this many characters. */
const piece = 1024 * 1024;

/** @throws SimError conflict when it is larger than `most` bytes */
function bytesOf(texts: Iterable<string>, most: number): Buffer {
  const pieces: Buffer[] = [];
  let waiting = "";
  let size = 0;
  const flush = () => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    size += bytes.length;
    if (size > most) throw tooLarge();
    pieces.push(bytes);
  };
  for (const text of texts) {
    waiting += text;
    if (waiting.length >= piece) flush();
  }
  flush();
  return Buffer.concat(pieces, size);
}

/** The whole state as one JSON text, all of the same moment. @throws SimError conflict when it is too large */
export async function exportState(desk: ExportDesk, most = largestState): Promise<Reply> {
  // What has been handled is in the journal by then: no request is exported in halves.
  await turn();
  return {
    status: 200,
    headers: ["content-type", "application/json"],
    body: bytesOf(stateTexts(desk), most),
  };
}
