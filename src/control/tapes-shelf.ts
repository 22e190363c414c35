import { resolve } from "node:path";
import type { Call } from "../http/call.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { tapesFolder } from "../tape/place.ts";
import type { TapeInfo } from "../tape/read.ts";
import { captureRoutes } from "../tape/routes.ts";
import type { Exchange } from "../tape/types.ts";
import { pathNumber, queryNumber } from "./body.ts";
import type { ControlRow } from "./rows.ts";
import type { TapeInForce, Tapes } from "./tapes-desk.ts";

interface ShelfDesk {
  readonly tapes: Tapes;
}

const most = Number.MAX_SAFE_INTEGER;
const mostShown = 10_000;

/** What is wrong with a file or a folder, as the control API says it. */
async function asConflict(error: unknown): Promise<unknown> {
  const { TapeError } = await import("../tape/tape-error.ts");
  if (!(error instanceof TapeError)) return error;
  return new SimError("conflict", error.message, { hint: error.hint, cause: error });
}

/** A tape of the folder. */
const showFile = ({ name, file, size, exchanges, header, problem }: TapeInfo) => ({
  name,
  file,
  bytes: size,
  exchanges,
  upstream: header?.upstream ?? null,
  created: header?.created ?? null,
  problem: problem ?? null,
});

/** The answer of GET /__sim/tapes/files. */
export interface ShownTapeFiles {
  readonly folder: string;
  readonly tapes: readonly ReturnType<typeof showFile>[];
}

/** The tapes that can be put in force by their name; a folder that is not there has none. */
async function filesIn(folder: string): Promise<ShownTapeFiles> {
  const { existsSync } = await import("node:fs");
  if (!existsSync(folder)) return { folder, tapes: [] };
  const { tapesIn } = await import("../tape/read.ts");
  try {
    return { folder, tapes: (await tapesIn(folder)).map(showFile) };
  } catch (error) {
    throw await asConflict(error);
  }
}

const files = async (): Promise<Reply> => json(await filesIn(resolve(tapesFolder)));

function inForce({ tapes }: ShelfDesk): TapeInForce {
  const tape = tapes.show();
  if (tape) return tape;
  throw new SimError("not_found", "no tape is in force", { hint: "POST /__sim/tapes puts one in force" });
}

/** An exchange in a list: what was asked and answered, without headers and bodies. */
const showInList = ({ i, at, route, req, res, complete, redacted, client }: Exchange, used: boolean) => ({
  i,
  at,
  route,
  method: req.method,
  url: req.url,
  status: res?.status ?? null,
  ms: res?.total ?? null,
  complete,
  redacted: redacted.length,
  client: client ?? null,
  used,
});

type ShownInList = ReturnType<typeof showInList>;

/** The answer of GET /__sim/tapes/exchanges. */
export interface ShownExchanges {
  readonly exchanges: readonly ShownInList[];
  readonly more: boolean;
}

/** The answer of GET /__sim/tapes/exchanges/{i}. */
export interface ShownExchange extends Omit<ShownInList, "redacted"> {
  readonly request: Exchange["req"];
  readonly response: Exchange["res"];
  readonly redacted: Exchange["redacted"];
}

/** The exchanges of a tape's file. @throws SimError when the file is not what it was */
async function* exchangesOf(file: string): AsyncGenerator<Exchange> {
  const { readTape } = await import("../tape/read.ts");
  try {
    yield* readTape(file);
  } catch (error) {
    throw await asConflict(error);
  }
}

/** Numbers of the exchanges that were not given as answers, or never are. */
const idleIn = ({ unused, left_out }: TapeInForce["ledger"]): ReadonlySet<number> =>
  new Set([...unused, ...left_out].map(({ i }) => i));

/** True if the exchange was given as an answer. The emulator answers captures and preflights itself. */
const wasUsed = ({ i, route, req }: Exchange, idle: ReadonlySet<number>): boolean =>
  !captureRoutes.includes(route) && req.method.toUpperCase() !== "OPTIONS" && !idle.has(i);

/** A page of the tape, in the order it was written. */
async function pageOf(desk: ShelfDesk, skip: number, limit: number): Promise<ShownExchanges> {
  const { file, ledger } = inForce(desk);
  const idle = idleIn(ledger);
  const exchanges: ShownInList[] = [];
  let passed = 0;
  for await (const it of exchangesOf(file)) {
    if (passed++ < skip) continue;
    if (exchanges.length === limit) return { exchanges, more: true };
    exchanges.push(showInList(it, wasUsed(it, idle)));
  }
  return { exchanges, more: false };
}

async function list(desk: ShelfDesk, call: Call): Promise<Reply> {
  const skip = queryNumber(call, "skip", { min: 0, max: most }) ?? 0;
  const limit = queryNumber(call, "limit", { min: 1, max: mostShown }) ?? 1_000;
  return json(await pageOf(desk, skip, limit));
}

async function exchangeOf(desk: ShelfDesk, wanted: number): Promise<ShownExchange> {
  const { name, file, ledger } = inForce(desk);
  for await (const it of exchangesOf(file)) {
    if (it.i !== wanted) continue;
    return {
      ...showInList(it, wasUsed(it, idleIn(ledger))),
      request: it.req,
      response: it.res,
      redacted: it.redacted,
    };
  }
  throw new SimError("not_found", `the tape ${name} has no exchange ${wanted}`);
}

const one = async (desk: ShelfDesk, call: Call): Promise<Reply> =>
  json(await exchangeOf(desk, pathNumber(call, "i", "exchange")));

/** What tapes there are, and what is on the one in force. */
export const shelfRows: readonly ControlRow<ShelfDesk>[] = [
  ["GET", "/__sim/tapes/files", "The tapes of the folder tapes/: name, size, exchanges", files],
  [
    "GET",
    "/__sim/tapes/exchanges",
    "What is on the tape in force, and what of it was used: skip, limit",
    list,
  ],
  ["GET", "/__sim/tapes/exchanges/:i", "One exchange of the tape in force, secrets taken out", one],
];
