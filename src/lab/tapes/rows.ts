import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { maskTargetSecrets } from "../../kernel/base/secrets.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { Exchange } from "./format/exchange.ts";
import { tapesFolder } from "./format/place.ts";
import { isCapture } from "./format/routes.ts";
import { TapeOrderError, type TapeStatus } from "./ports.ts";
import type { Recordings } from "./record/recordings.ts";
import type { Replaying } from "./replay/replaying.ts";
import {
  LoadedTapeReply,
  RecordingFacts,
  RecordingOrder,
  RewindOrder,
  TapeExchange,
  type TapeExchangeSummary,
  TapeExchanges,
  TapeFiles,
  TapeOrder,
} from "./shapes.ts";

type TapePlayer = Pick<Replaying, "show" | "load" | "unload" | "rewind">;

const mostListed = 1_000;

function shown(tape: TapeStatus | null): LoadedTapeReply {
  if (tape === null) return { tape: null };
  const { unused, misses, left_out, events, ...counts } = tape.ledger;
  const ledger = {
    ...counts,
    unused_count: unused.length,
    miss_count: misses.reduce((sum, { times }) => sum + times, 0),
    unused: unused.slice(0, mostListed),
    left_out: left_out.slice(0, mostListed),
    events: { ...events, missing: events.missing.slice(0, mostListed) },
    misses: misses.slice(0, mostListed).map((it) => ({ ...it, target: maskTargetSecrets(it.target) })),
  };
  return { tape: { ...tape, problems: tape.problems.slice(0, mostListed), ledger } };
}

function loadedTape(tapes: TapePlayer): TapeStatus {
  const tape = tapes.show();
  if (tape) return tape;
  throw new SimError("not_found", "no tape is loaded", { hint: "POST /__sim/tapes loads one" });
}

/** Fields of the request body with the parts of an order. */
const pointers: Readonly<Partial<Record<TapeOrderError["key"], string>>> = {
  onMiss: "/on_miss",
  skipStatus: "/skip_status",
};

/** Carries out an order. @throws SimError with the field that is wrong */
async function obeyed<T>(work: Promise<T>, upstreamField = "/upstream"): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof TapeOrderError)) throw error;
    const { key, message, hint } = error;
    if (key === "running") throw new SimError("conflict", message, { hint, cause: error });
    const isUpstream = key === "upstream" || key === "offline";
    const pointer = isUpstream ? upstreamField : (pointers[key] ?? `/${key}`);
    throw new SimError("invalid_input", message, { pointer, hint, cause: error });
  }
}

async function asConflict(error: unknown): Promise<unknown> {
  const { TapeError } = await import("./format/tape-error.ts");
  if (!(error instanceof TapeError)) return error;
  return new SimError("conflict", error.message, { hint: error.hint, cause: error });
}

/** The tapes that can be loaded by their name; a folder that does not exist has none. */
async function filesIn(folder: string): Promise<TapeFiles> {
  if (!existsSync(folder)) return { folder, tapes: [] };
  const { tapesIn } = await import("./format/read.ts");
  const found = await tapesIn(folder).catch(async (error) => {
    throw await asConflict(error);
  });
  const tapes = found.map(({ name, file, size, exchanges, header, problem = null }) => {
    const { upstream = null, created = null } = header ?? {};
    return { name, file, bytes: size, exchanges, upstream, created, problem };
  });
  return { folder, tapes };
}

/** The exchanges of a tape's file. @throws SimError conflict when the file is not what it was */
async function* exchangesOf(file: string): AsyncGenerator<Exchange> {
  const { readTape } = await import("./format/read.ts");
  try {
    yield* readTape(file);
  } catch (error) {
    throw await asConflict(error);
  }
}

/** Shows exchanges in a list, with their use so far. The emulator answers captures and preflights itself. */
function summaries({ unused, left_out }: TapeStatus["ledger"]): (exchange: Exchange) => TapeExchangeSummary {
  const idle: ReadonlySet<number> = new Set([...unused, ...left_out].map(({ i }) => i));
  return ({ i, at, route, req, res, complete, redacted, client = null }) => ({
    i,
    at,
    route,
    method: req.method,
    url: req.url,
    status: res?.status ?? null,
    ms: res?.total ?? null,
    complete,
    redacted: redacted.length,
    client,
    used: !isCapture(route) && req.method.toUpperCase() !== "OPTIONS" && !idle.has(i),
  });
}

async function pageOf({ file, ledger }: TapeStatus, skip: number, limit: number): Promise<TapeExchanges> {
  const summary = summaries(ledger);
  const exchanges: TapeExchangeSummary[] = [];
  let passed = 0;
  for await (const it of exchangesOf(file)) {
    if (passed++ < skip) continue;
    if (exchanges.length === limit) return { exchanges, more: true };
    exchanges.push(summary(it));
  }
  return { exchanges, more: false };
}

async function exchangeOf({ name, file, ledger }: TapeStatus, wanted: string): Promise<TapeExchange> {
  for await (const it of exchangesOf(file)) {
    if (String(it.i) !== wanted) continue;
    return { ...summaries(ledger)(it), request: it.req, response: it.res, redacted: it.redacted };
  }
  throw new SimError("not_found", `the tape ${name} has no exchange ${wanted}`);
}

export const tapeSlice = slice(["tapes"], ({ tapes }: { readonly tapes: TapePlayer }) => [
  row({
    method: "GET",
    path: "/__sim/tapes",
    access: "control",
    summary: "Shows the tape that answers: its mode, and what was used, unused and missed",
    reply: LoadedTapeReply,
    handle: () => shown(tapes.show()),
  }),
  row({
    method: "POST",
    path: "/__sim/tapes",
    access: "control",
    summary: "Answers from a tape",
    body: TapeOrder,
    reply: LoadedTapeReply,
    handle: async ({ body: { on_miss, skip_status, ...order } }) =>
      shown(await obeyed(tapes.load({ ...order, onMiss: on_miss, skipStatus: skip_status }), "/on_miss")),
  }),
  row({
    method: "DELETE",
    path: "/__sim/tapes",
    access: "control",
    summary: "Unloads the tape, so that the emulator answers again, and shows what was used of it",
    reply: LoadedTapeReply,
    handle: () => shown(tapes.unload()),
  }),
  row({
    method: "POST",
    path: "/__sim/tapes/rewind",
    access: "control",
    summary: "Goes back to the tape's beginning, for all clients or one",
    body: RewindOrder,
    errors: [404],
    reply: LoadedTapeReply,
    handle({ body: { client } }) {
      loadedTape(tapes);
      tapes.rewind(client);
      return shown(tapes.show());
    },
  }),
  row({
    method: "GET",
    path: "/__sim/tapes/files",
    access: "control",
    summary: "Lists the tapes of the folder tapes/ by name",
    errors: [409],
    reply: TapeFiles,
    handle: () => filesIn(resolve(tapesFolder)),
  }),
  row({
    method: "GET",
    path: "/__sim/tapes/exchanges",
    access: "control",
    summary: "Lists the exchanges of the tape that answers, in the order of the tape",
    query: z.strictObject({
      skip: z.int().min(0).optional().describe("Number of exchanges to skip"),
      limit: z.int().min(1).max(10_000).optional().describe("Most exchanges (default: 1,000)"),
    }),
    errors: [404, 409],
    reply: TapeExchanges,
    handle: ({ query: { skip = 0, limit = 1_000 } }) => pageOf(loadedTape(tapes), skip, limit),
  }),
  row({
    method: "GET",
    path: "/__sim/tapes/exchanges/:i",
    access: "control",
    summary: "Shows one exchange of the tape that answers, redacted",
    errors: [404, 409],
    reply: TapeExchange,
    handle: ({ params }) => exchangeOf(loadedTape(tapes), params.i),
  }),
]);

export const recordingSlice = slice(
  ["recordings"],
  ({ recordings }: { readonly recordings: Pick<Recordings, "start" | "stop" | "facts"> }) => [
    row({
      method: "GET",
      path: "/__sim/recording",
      access: "control",
      summary: "Shows the recording: its upstream, tape and counts",
      reply: RecordingFacts,
      handle: () => recordings.facts(),
    }),
    row({
      method: "POST",
      path: "/__sim/recording/start",
      access: "control",
      summary: "Passes requests on to an upstream and records them on a tape",
      body: RecordingOrder,
      errors: [409],
      reply: RecordingFacts,
      handle: ({ body }) => obeyed(recordings.start(body)),
    }),
    row({
      method: "POST",
      path: "/__sim/recording/stop",
      access: "control",
      summary: "Ends the recording and closes its tape; the emulator answers again",
      body: z.strictObject({}),
      reply: RecordingFacts,
      handle: () => recordings.stop(),
    }),
  ],
);
