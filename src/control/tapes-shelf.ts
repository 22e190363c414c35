import { resolve } from "node:path";
import type { Call } from "../http/call.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { tapesFolder } from "../tape/place.ts";
import type { Exchange } from "../tape/types.ts";
import { pathNumber, queryNumber } from "./body.ts";
import type { ControlRow } from "./rows.ts";
import type { TapeInForce, Tapes } from "./tapes-desk.ts";

interface ShelfDesk {
  readonly tapes: Tapes;
}

const most = Number.MAX_SAFE_INTEGER;
const mostShown = 10_000;

/** The tapes that can be put in force by their name; a folder that is not there has none. */
async function files(): Promise<Reply> {
  const { existsSync } = await import("node:fs");
  const folder = resolve(tapesFolder);
  if (!existsSync(folder)) return json({ folder, tapes: [] });
  const { tapesIn } = await import("../tape/read.ts");
  const tapes = await tapesIn(folder);
  return json({
    folder,
    tapes: tapes.map(({ name, file, size, exchanges, header, problem }) => ({
      name,
      file,
      bytes: size,
      exchanges,
      upstream: header?.upstream ?? null,
      created: header?.created ?? null,
      problem: problem ?? null,
    })),
  });
}

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

/** The exchanges of a tape's file. @throws SimError when the file is not what it was */
async function* exchangesOf(file: string): AsyncGenerator<Exchange> {
  const [{ readTape }, { TapeError }] = await Promise.all([
    import("../tape/read.ts"),
    import("../tape/tape-error.ts"),
  ]);
  try {
    yield* readTape(file);
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new SimError("conflict", error.message, { hint: error.hint, cause: error });
  }
}

/** A page of the tape, in the order it was written. */
async function list(desk: ShelfDesk, call: Call): Promise<Reply> {
  const { file, ledger } = inForce(desk);
  const skip = queryNumber(call, "skip", { min: 0, max: most }) ?? 0;
  const limit = queryNumber(call, "limit", { min: 1, max: mostShown }) ?? 1_000;
  const unused = new Set(ledger.unused.map(({ i }) => i));
  const exchanges: ReturnType<typeof showInList>[] = [];
  let passed = 0;
  for await (const it of exchangesOf(file)) {
    if (passed++ < skip) continue;
    if (exchanges.length === limit) return json({ exchanges, more: true });
    exchanges.push(showInList(it, !unused.has(it.i)));
  }
  return json({ exchanges, more: false });
}

async function one(desk: ShelfDesk, call: Call): Promise<Reply> {
  const { name, file, ledger } = inForce(desk);
  const wanted = pathNumber(call, "i", "exchange");
  for await (const it of exchangesOf(file)) {
    if (it.i !== wanted) continue;
    const used = !ledger.unused.some(({ i }) => i === wanted);
    return json({ ...showInList(it, used), request: it.req, response: it.res, redacted: it.redacted });
  }
  throw new SimError("not_found", `the tape ${name} has no exchange ${wanted}`);
}

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
