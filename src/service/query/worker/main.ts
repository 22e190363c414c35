import { readSync, writeSync } from "node:fs";
import { isNativeError } from "node:util/types";
import { createContext, Script } from "node:vm";
import { SimError } from "../../../kernel/base/errors.ts";
import { dropOffsKind } from "../insights/funnels.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import { kinds } from "../kinds.ts";
import { queryTooLarge, queryTooSlow } from "../refusals.ts";
import { tableOf } from "../table.ts";
import {
  type AskedQuestion,
  type AskSim,
  type ComputeJob,
  errorOf,
  type FromWorker,
  frameOf,
  headerLength,
  type KindList,
  messageIn,
  sentError,
  type ToWorker,
} from "./messages.ts";
import { ProjectData, remoteFacts } from "./project-data.ts";

/** Characters of a response. */
const mostCharacters = 32 * 1024 * 1024;

/** Memory of the process, with that of arrays of numbers, which V8 does not limit. */
const mostBytes = 1536 * 1024 * 1024;
function checkMemory(): void {
  if (process.memoryUsage.rss() > mostBytes) throw queryTooLarge();
}

const lists: Readonly<Record<KindList, readonly QueryKind<unknown>[]>> = { queries: kinds, dropOffs: [dropOffsKind] };

/** Reads this number of bytes. The process ends once the sim has gone. */
function readBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const count = readSync(0, bytes, at, length - at, null);
    if (count === 0) process.exit();
    at += count;
  }
  return bytes;
}

const receive = (): ToWorker => messageIn(readBytes(readBytes(headerLength).readUInt32LE()));

function send(message: FromWorker): void {
  for (const bytes of frameOf(message)) for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

const ask: AskSim = (what, of) => {
  // its type is that of what is asked for
  send({ is: "ask", question: { what, of } as AskedQuestion });
  const list: unknown[] = [];
  for (;;) {
    const message = receive();
    if (message.is === "part") for (const it of message.list) list.push(it);
    else if (message.is === "failed") throw errorOf(message.error);
    // a reply fits what was asked for
    else return (message.is === "reply" ? message.reply : list) as never;
  }
};

/** Bytes of lines of all projects, above which only the project of the query is kept. */
const mostKept = 128 * 1024 * 1024;

const projects = new Map<number, ProjectData>();

function dataOf(project: number): ProjectData {
  const data = projects.get(project) ?? new ProjectData(ask);
  if ([...projects.values()].reduce((sum, { size }) => sum + size, 0) > mostKept) projects.clear();
  projects.set(project, data);
  return data;
}

const context = createContext({ work: undefined });
const script = new Script("work()");

/** Ends a computation that takes longer, unless it is inside of a built-in function: then the sim ends the process. */
function within<T>(ms: number, work: () => T): T {
  context.work = work;
  return script.runInContext(context, { timeout: ms, displayErrors: false }) as T;
}

/** Results of more characters are sent apart. */
const mostTogether = 100_000;

function doneWith(fields: Record<string, unknown>): FromWorker {
  const results = JSON.stringify(fields.results) ?? "";
  if (results.length <= mostTogether)
    return { is: "done", json: Buffer.from(JSON.stringify(fields)), results: undefined };
  if (results.length > mostCharacters) throw queryTooLarge();
  const others = { ...fields, results: undefined };
  return { is: "done", json: Buffer.from(JSON.stringify(others)), results: Buffer.from(results) };
}

function compute({ list, kind: name, query, of, project, mostMs }: ComputeJob): FromWorker {
  const kind = lists[list].find((it) => it.kind === name);
  if (!kind) throw new Error(`a bug in phx-sim: there is no kind ${name}`);
  const data = dataOf(of);
  if (!kind.isPlain) data.update();
  const queryContext: QueryContext = { ...project, ...remoteFacts(ask, data), table: tableOf(data), checkMemory };
  return within(mostMs, () => doneWith(kind.run(query, queryContext)));
}

/** What V8 throws for a text or an array that is longer than any may be. */
const tooLong =
  /^(?:Invalid (?:string|array|typed array|array buffer) length|Array buffer allocation failed|.* maximum size exceeded)/;

/** Errors of V8 in the service's words. */
function refusalOf(error: unknown): unknown {
  if (!isNativeError(error)) return error;
  // it is of the context of the script, and no instance of this one's Error
  if ("code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return queryTooSlow();
  if (error.name !== "RangeError") return error;
  if (error.message === "Maximum call stack size exceeded")
    return new SimError("invalid_input", "The query is nested too deeply.");
  return tooLong.test(error.message) ? queryTooLarge() : error;
}

function replyTo(job: ComputeJob): FromWorker {
  try {
    return compute(job);
  } catch (error) {
    return { is: "failed", error: sentError(refusalOf(error)) };
  }
}

for (;;) {
  const message = receive();
  if (message.is === "job") send(replyTo(message.job));
}
