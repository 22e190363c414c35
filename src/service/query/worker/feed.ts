import { setImmediate as turn } from "node:timers/promises";
import { performance } from "../../../kernel/base/real-time.ts";
import type { LineBytes } from "../../../state/journal/log/log-scan.ts";
import type { TrafficLog } from "../../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../../state/persons/person-store.ts";
import type { DataVersions } from "../data-version.ts";
import type { ProjectFacts } from "../kind.ts";
import type { Asked, AskedQuestion } from "./messages.ts";
import type { QueryProcess } from "./query-process.ts";

/** Time for which a reply may hold the event loop, ms. */
const longestTurn = 5;

/** Entries, and bytes of lines, of a message: its text is made without a turn for other work. */
const partSize = { entries: 256, bytes: 262_144 };

export interface ReplyPorts {
  readonly log: TrafficLog;
  readonly people: PersonStore;
  readonly versions: DataVersions;
  readonly project: number;
  readonly facts: ProjectFacts;
}

/** Copies: the bytes of a line are used again for the next one. */
function* piecesOf({ bytes, seqs }: LineBytes): Generator<LineBytes> {
  for (let from = 0; from < bytes.length; from += partSize.bytes) {
    const piece = Buffer.from(bytes.subarray(from, from + partSize.bytes));
    yield { bytes: piece, seqs: from + piece.length === bytes.length ? seqs : [] };
  }
}

function* linesOf({ log, project }: ReplyPorts, span: Asked["lines"]["of"]): Generator<LineBytes | undefined> {
  for (const line of log.lines({ project, outcome: "kept", ...span }))
    if (line) yield* piecesOf(line);
    else yield undefined;
}

function* membersOf({ facts }: ReplyPorts, id: number): Generator<string | undefined> {
  const cohort = facts.cohort?.(id);
  for (const { uuid } of facts.persons?.() ?? []) yield cohort?.has(uuid) === true ? uuid : undefined;
}

function* ownersOf({ people, project }: ReplyPorts, ids: readonly string[]): Generator<string | null> {
  for (const id of ids) yield people.personOf(project, id)?.uuid ?? null;
}

/** The entries of a list; undefined gives other work a turn. */
export function listOf({ what, of }: AskedQuestion, ports: ReplyPorts): Iterable<unknown> | undefined {
  switch (what) {
    case "lines":
      return linesOf(ports, of);
    case "members":
      return membersOf(ports, of);
    case "owners":
      return ownersOf(ports, of);
    case "persons":
      return ports.facts.persons?.() ?? [];
    case "groups":
      return ports.facts.groups?.() ?? [];
    default:
      return undefined;
  }
}

export function answerOf({ what, of }: AskedQuestion, { log, versions, project, facts }: ReplyPorts): unknown {
  switch (what) {
    case "state":
      return { ...versions.dataOf(project), firstHeld: log.firstHeldSeq, last: log.lastWrittenSeq };
    case "action":
      return facts.action?.(of);
    case "experiment":
      return facts.experiment?.(of);
    case "cohort":
      return facts.cohort?.(of)?.name;
    default:
      return undefined;
  }
}

export async function replyTo(question: AskedQuestion, process: QueryProcess, ports: ReplyPorts): Promise<void> {
  const all = listOf(question, ports);
  if (!all) return process.send({ is: "reply", reply: answerOf(question, ports) });
  let list: unknown[] = [];
  let bytes = 0;
  let turnAt = performance.now();
  for (const it of all) {
    if (it !== undefined) list.push(it);
    if (isLine(it)) bytes += it.bytes.length;
    const isFull = list.length === partSize.entries || bytes > partSize.bytes;
    if (!isFull && performance.now() - turnAt < longestTurn) continue;
    await process.send({ is: "part", list });
    list = [];
    bytes = 0;
    await turn();
    turnAt = performance.now();
  }
  await process.send({ is: "part", list });
  await process.send({ is: "listed" });
}

const isLine = (it: unknown): it is LineBytes => typeof it === "object" && it !== null && "bytes" in it;
