import type { Bytes } from "./bytes.ts";
import { groupTypeLine, idLine } from "./people-line.ts";
import { createLineLog, type LineLog } from "./people-log.ts";
import type { PeopleState } from "./people-state.ts";

const smallest = 64 * 1024 * 1024;
/** Dead bytes for each living one that are worth a rewrite. */
const tolerated = 4;
/** The length of a usual id line: their lengths are not kept. */
const idLineLength = 128;

/** Is the log large, and most of it superseded lines? */
export function isWasteful(state: PeopleState, size: number, floor = smallest): boolean {
  return size > floor && size > (tolerated + 1) * livingBytes(state);
}

function livingBytes(state: PeopleState): number {
  let total = 0;
  for (const { table, length } of [state.persons, state.groups]) {
    for (let row = 0; row < table.length; row++) if (table.isAlive(row)) total += length(row);
  }
  for (const entry of state.projects.entries) total += (entry.ids + entry.personless) * idLineLength;
  return total;
}

/** Copies the living lines: each person before its ids, then the rest. */
export function compactInto(target: Bytes, state: PeopleState, log: LineLog): void {
  const copy = createLineLog(target);
  const { persons, groups, ids, projects } = state;
  for (let row = 0; row < persons.table.length; row++) {
    if (!persons.table.isAlive(row)) continue;
    copy.append(log.lineAt(persons.table.offset(row), persons.length(row)));
    // Written anew: a merge moves ids without touching their lines.
    const { project, uuid } = persons.at(row);
    for (const id of ids.rowsOf(row)) copy.append(idLine(project, ids.text(id), uuid));
  }
  for (let row = 0; row < ids.table.length; row++) {
    if (ids.table.isAlive(row) && ids.person(row) === -1) copy.append(log.lineAt(ids.table.offset(row)));
  }
  for (let row = 0; row < groups.table.length; row++) {
    if (groups.table.isAlive(row)) copy.append(log.lineAt(groups.table.offset(row), groups.length(row)));
  }
  for (const entry of projects.entries) {
    for (const name of entry.groupTypes) copy.append(groupTypeLine(entry.project, name));
  }
  copy.flush();
}
