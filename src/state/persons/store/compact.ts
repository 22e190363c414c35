import type { Bytes } from "../../../kernel/store/bytes.ts";
import { groupTypeLine, idLine } from "./line.ts";
import { createLineLog, type LineLog } from "./log.ts";
import type { LineRows } from "./rows.ts";
import { type PersonStoreState, StaleRows } from "./state.ts";

/** Superseded bytes for each current one from which a rewrite is worthwhile. */
const tolerated = 4;

/** True if most of the log is superseded lines. */
export const isWasteful = ({ ids, persons, groups, hashKeys }: PersonStoreState, size: number): boolean =>
  size > (tolerated + 1) * (ids.table.living + persons.table.living + groups.table.living + hashKeys.table.living);

/** Size of a write, bytes. */
const piece = 1024 * 1024;

/** Copies the current lines: each person before its ids, then the rest. */
export function compactInto(target: Bytes, state: PersonStoreState, log: LineLog): void {
  const copy = createLineLog(target, piece);
  const { persons, groups, ids, hashKeys, projects } = state;
  const copyLine = (table: LineRows, row: number) => {
    const { offset, length } = table.place(row);
    const line = log.lineAt(offset, length);
    if (line === undefined) throw new StaleRows();
    copy.append(line);
  };
  for (const row of livingRows(persons.table)) {
    copyLine(persons.table, row);
    // new lines: a merge moves ids without changing their lines
    const { project, uuid } = persons.at(row);
    for (const id of ids.rowsOf(row)) copy.append(idLine(project, ids.text(id), uuid));
  }
  for (const row of livingRows(ids.table)) if (ids.person(row) === -1) copyLine(ids.table, row);
  for (const row of livingRows(hashKeys.table)) copyLine(hashKeys.table, row);
  for (const row of livingRows(groups.table)) copyLine(groups.table, row);
  for (const { project, groupTypes } of projects.entries) {
    for (const name of groupTypes) copy.append(groupTypeLine(project, name));
  }
  copy.flush();
}

function* livingRows(table: LineRows): Generator<number> {
  for (let row = 0; row < table.rows.length; row++) if (table.isAlive(row)) yield row;
}
