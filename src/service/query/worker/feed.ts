import { setImmediate as turn } from "node:timers/promises";
import type { TrafficLog } from "../../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../../state/journal/show.ts";
import type { EventTables } from "../columns.ts";
import type { ProjectFacts } from "../kind.ts";
import { longestTurn } from "../steps.ts";
import type { GrowingSeries, SeriesValues, TableData } from "../table-data.ts";
import type { Asked, AskedQuestion, SentEvents, TableReply } from "./messages.ts";
import type { QueryProcess } from "./query-process.ts";

/** Entries of a message: their text and that of the reply are made without a turn for other work. */
const partSize = { numbers: 262_144, values: 8_192, documents: 256 };

/** Bytes of lines in a message, above which it has no more lines. */
const mostLineBytes = 262_144;

/** Entries of all series of a process, above which it starts over. */
const mostEntries = 32 * 1024 * 1024;

/** What a process has of the series of tables. */
export interface SentSeries {
  /** Entries of each series, by its object and part. */
  known: WeakMap<object, Map<string, { readonly id: number; entries: number }>>;
  lastId: number;
  entries: number;
}

export const noSeries = (): SentSeries => ({ known: new WeakMap(), lastId: 0, entries: 0 });

/** Entries that a table needs. */
const entriesOf = ({ end, columns }: TableData): number =>
  [...columns.values()].reduce((sum, { values }) => sum + end + values.values.length, 2 * end);

async function sendSeries(
  process: QueryProcess,
  sent: SentSeries,
  { of, part, values }: GrowingSeries,
  end = values.length,
): Promise<number> {
  const parts = sent.known.get(of) ?? new Map<string, { id: number; entries: number }>();
  sent.known.set(of, parts);
  const it = parts.get(part) ?? { id: ++sent.lastId, entries: -1 };
  parts.set(part, it);
  const step = Array.isArray(values) ? partSize.values : partSize.numbers;
  // a series without entries is sent, too
  for (let from = Math.max(0, it.entries); from < end || it.entries < 0; from = it.entries) {
    const to = Math.min(end, from + step);
    const piece: SeriesValues = values.slice(from, to);
    await process.send({ is: "series", id: it.id, values: piece });
    it.entries = to;
    sent.entries += to - from;
    if (to < end) await turn();
  }
  return it.id;
}

async function sendTable(process: QueryProcess, sent: SentSeries, data: TableData): Promise<TableReply> {
  if (sent.entries > 0 && sent.entries + entriesOf(data) > mostEntries) {
    await process.send({ is: "clear" });
    Object.assign(sent, noSeries());
  }
  const send = (series: GrowingSeries, end?: number) => sendSeries(process, sent, series, end);
  const { from, end, times, seqs } = data;
  const columns: [string, number, number][] = [];
  for (const [key, { codes, values }] of data.columns) columns.push([key, await send(codes, end), await send(values)]);
  return { from, end, times: await send(times, end), seqs: await send(seqs, end), columns };
}

/** What the reply to a query is made of. */
export interface ReplyPorts {
  readonly log: TrafficLog;
  readonly tables: EventTables;
  readonly project: number;
  readonly facts: ProjectFacts;
  readonly signal: AbortSignal;
}

/** At most this many events are found one by one: lines are read in large pieces of the file. */
const mostSingleEvents = 8;

function* eventsOf({ log, project }: ReplyPorts, span: Asked["events"]["of"]): Generator<SentEvents> {
  const filter = { project, outcome: "kept" as const, ...span };
  if (span.until - span.since <= mostSingleEvents) {
    for (const { line, index } of log.scan(filter)) yield showEvent(line, index);
    return;
  }
  let size = 0;
  for (const line of log.lines(filter)) {
    if (!line) continue;
    // these bytes are used again for the next line
    yield { bytes: Buffer.from(line.bytes), seqs: line.seqs };
    size += line.bytes.length;
    if (size > mostLineBytes) return;
  }
}

function* membersOf({ facts }: ReplyPorts, id: number): Generator<string | undefined> {
  const cohort = facts.cohort?.(id);
  for (const { uuid } of facts.persons?.() ?? []) yield cohort?.has(uuid) === true ? uuid : undefined;
}

async function sendList(process: QueryProcess, all: Iterable<unknown>): Promise<void> {
  let list: unknown[] = [];
  let turnAt = performance.now();
  for (const it of all) {
    if (it !== undefined) list.push(it);
    if (performance.now() - turnAt < longestTurn && list.length < partSize.documents) continue;
    await process.send({ is: "part", list });
    list = [];
    await turn();
    turnAt = performance.now();
  }
  await process.send({ is: "part", list });
  await process.send({ is: "listed" });
}

/** Replies to what a query asks for. */
export async function replyTo(
  { what, of }: AskedQuestion,
  process: QueryProcess,
  sent: SentSeries,
  ports: ReplyPorts,
): Promise<void> {
  const { facts, tables, project, signal } = ports;
  const reply = (value: unknown) => process.send({ is: "reply", reply: value });
  switch (what) {
    case "table":
      return reply(await sendTable(process, sent, await tables.tableFor(project, of, signal)));
    case "action":
      return reply(facts.action?.(of));
    case "experiment":
      return reply(facts.experiment?.(of));
    case "cohort":
      return reply(facts.cohort?.(of)?.name);
    case "person":
      return reply(facts.person?.(of));
    case "events":
      return sendList(process, eventsOf(ports, of));
    case "members":
      return sendList(process, membersOf(ports, of));
    case "persons":
      return sendList(process, facts.persons?.() ?? []);
    case "groups":
      return sendList(process, facts.groups?.() ?? []);
  }
}
