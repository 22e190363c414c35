import { messageOf } from "../../../kernel/base/errors.ts";
import { counted } from "../../../kernel/base/text.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { lineNumber, textsOf } from "../../../kernel/store/lines.ts";
import { type Change, readLine } from "./line.ts";
import type { LinePlace } from "./rows.ts";
import { type PersonStoreState, StaleRows } from "./state.ts";

interface Replay {
  state: PersonStoreState;
  bytes: Bytes;
  name: string;
  report: (damage: Damage) => void;
}

interface Orphan {
  change: Change;
  place: LinePlace;
}

/** @throws DataFolderError if the file does not begin like a people log */
export function mustBePersons(bytes: Bytes, name: string): void {
  const start = bytes.read(0, sniffed);
  if (start.subarray(0, 3).equals(Buffer.from("\ufeff")))
    throw notPersons(name, "it begins with a byte order mark, which an editor put there", "remove the mark");
  if (start.includes("\n") && !/"kind":"/.test(start.toString("latin1")))
    throw notPersons(name, "it is not a people log of phx-sim, or its first lines are damaged", "restore it");
}

const sniffed = 64 * 1024;

const notPersons = (name: string, reason: string, repair: string): DataFolderError =>
  new DataFolderError(`${name}:1: ${reason}`, {
    file: name,
    line: 1,
    hint: `${repair}, or move the file away to start without stored people`,
  });

/** Applies lines from an offset on. Unreadable ones are reported; changes of their persons count if a later line has the person. */
export function replayPersons({ state, bytes, name, report }: Replay, from: number): void {
  const orphans: Orphan[] = [];
  for (const { offset, length, text } of textsOf(bytes, from)) {
    const change = readOrReason(text);
    if (typeof change === "string") {
      const detail = `this line is damaged (${change}): its content is lost, or as in an earlier line`;
      report({ file: name, line: lineNumber(bytes, offset), detail });
      continue;
    }
    const place = { offset, length };
    if (!isApplied(state, change, place)) orphans.push({ change, place });
  }
  const lost = orphans.filter((it) => !isAdopted(state, it, orphans));
  const [first] = lost;
  if (first)
    report({
      file: name,
      line: lineNumber(bytes, first.place.offset),
      detail: `${counted(lost.length, "line")} from this one on refer to persons that are lost: skipped`,
    });
}

function readOrReason(text: string | undefined): Change | string {
  if (text === undefined) return "its checksum does not match";
  try {
    return readLine(text);
  } catch (error) {
    return messageOf(error);
  }
}

function isApplied(state: PersonStoreState, change: Change, place: LinePlace): boolean {
  try {
    state.apply(change, place);
    return true;
  } catch (error) {
    if (error instanceof StaleRows) throw error;
    return false;
  }
}

/** Retries a change after all lines. An id moves to the person into which its own was merged. */
function isAdopted(state: PersonStoreState, { change, place }: Orphan, orphans: readonly Orphan[]): boolean {
  // its person does not exist in any case
  if (change.kind === "removed" || change.kind === "gone") return true;
  if (change.kind !== "id") return isApplied(state, change, place);
  const { project, distinctId } = change;
  const row = state.findId(project, distinctId);
  if (row !== -1 && state.ids.person(row) !== -1) return true;
  return isApplied(state, { ...change, uuid: mergedInto(change, orphans) }, place);
}

function mergedInto({ project, uuid }: { project: number; uuid: string }, orphans: readonly Orphan[]): string {
  return orphans.reduce(
    (current, { change }) =>
      change.kind === "gone" && change.project === project && change.uuid === current ? change.into : current,
    uuid,
  );
}
