import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Bytes } from "../../kernel/store/bytes.ts";
import { clockFile } from "../../kernel/store/clock-file.ts";
import type { Damage } from "../../kernel/store/damage.ts";
import { DataFolderError, openBytes } from "../../kernel/store/data-folder.ts";
import { unfinishedBytes } from "../../kernel/store/lines.ts";
import { unfinishedSwitches } from "../../kernel/store/switch.ts";
import { readSnapshots } from "../../lab/scenario/state/snapshot-storage.ts";
import { readChanges } from "../../state/documents/store/changes-file.ts";
import { WorldDocument } from "../../state/documents/store/document.ts";
import { salvagedWorld } from "../../state/documents/store/salvage.ts";
import { checkedWorld, readWorldFile } from "../../state/documents/store/world-file.ts";
import { emptyWorld } from "../../state/documents/world.ts";
import { type Opening, readOpening } from "../../state/journal/log/log-lines.ts";
import { sidecarLog } from "../../state/journal/log/log-tables.ts";
import { openRowFile, RowTable } from "../../state/journal/log/rows.ts";
import { event, lostBit, readTraffic, request, TrafficIndex } from "../../state/journal/log/traffic-index.ts";
import { keysOf } from "../../state/journal/show.ts";
import type { EventKey, TrafficLine } from "../../state/journal/traffic.ts";
import { LineLog } from "../../state/persons/store/log.ts";
import { mustBePersons, replayPersons } from "../../state/persons/store/replay.ts";
import { keyHash, PersonStoreState } from "../../state/persons/store/state.ts";
import { FolderContents } from "./contents.ts";

type Report = (damage: Damage) => void;
type KeysOf = (line: TrafficLine) => EventKey[];

/** Looks for damage in one part of a folder. @throws DataFolderError when the part cannot be used at all */
type Check = (folder: string, report: Report, keysOf: KeysOf) => void | Promise<void>;

const checks: readonly Check[] = [
  (folder, report) => new FolderContents(folder, report).reportMissing(),
  (folder, report) => checkWorld(join(folder, "world.json"), report),
  (folder, report) =>
    withFile(join(folder, "world.changes.ndjson"), report, (bytes, name) =>
      readChanges(bytes, name, new WorldDocument(emptyWorld()), report),
    ),
  (folder, report) =>
    withFile(join(folder, "people.ndjson"), report, (bytes, name) => {
      mustBePersons(bytes, name);
      replayPersons({ state: new PersonStoreState(new LineLog(bytes), keyHash), bytes, name, report }, 0);
    }),
  (folder, report, keysOf) =>
    withFile(join(folder, "traffic.ndjson"), report, (bytes, name) => {
      const opening = readOpening(bytes, name);
      if (!opening) return;
      const index = new TrafficIndex({ opening, keysOf });
      index.fillUp();
      readTraffic({ index, bytes, name, opening, report }, 0);
      checkSidecars({ folder, bytes, opening, index }, report);
    }),
  (folder, report) => void clockFile(join(folder, "clock.json"), report).read(),
  (folder, report) => {
    for (const found of unfinishedSwitches(folder)) report({ ...found, line: null });
  },
  (folder, report) => {
    for (const [key, { damaged }] of readSnapshots(join(folder, "snapshots")).damaged)
      report({ file: join(folder, "snapshots", key), line: null, detail: `this snapshot is damaged: ${damaged}` });
  },
];

async function checkFolder(folder: string, keysOf: KeysOf): Promise<Damage[]> {
  const found: Damage[] = [];
  const report: Report = (damage) => void found.push(damage);
  if (!existsSync(folder)) report({ file: folder, line: null, detail: "this folder does not exist" });
  for (const check of checks) {
    try {
      await check(folder, report, keysOf);
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const { file, line = null, message, hint } = error;
      report({ file, line, detail: `${message.replace(`${file}:${line}: `, "")}; ${hint}` });
    }
  }
  return found;
}

async function checkWorld(file: string, report: Report): Promise<void> {
  try {
    const found = readWorldFile(file);
    if (!found) return;
    await checkedWorld(file, found);
    for (const detail of found.missing) report({ file, line: null, detail });
  } catch (error) {
    if (!(await salvagedWorld(file, report))) throw error;
  }
}

/** The index files that a start would use must fit the lines of the log. */
function checkSidecars(
  { folder, bytes, opening, index }: { folder: string; bytes: Bytes; opening: Opening; index: TrafficIndex },
  report: Report,
): void {
  const { from = opening } = opening;
  const tables = [
    ["requests.idx", index.requests, [request.offsetLow, request.offsetHigh], request.meta, from.n - opening.n],
    ["events.idx", index.events, [event.request, event.name, event.distinctId], event.meta, from.seq - opening.seq],
  ] as const;
  for (const [name, made, columns, meta, first] of tables) {
    const file = join(folder, name);
    if (!existsSync(file)) continue;
    const saved = new RowTable(made.width);
    let isDamaged = false;
    const sidecar = openRowFile(file, saved, sidecarLog(bytes, opening), () => {
      isDamaged = true;
    });
    // evicted requests have rows in one of them only
    let row = first;
    const isSame = () =>
      row < made.length &&
      (((made.get(row, meta) | saved.get(row, meta)) & lostBit) !== 0 ||
        columns.every((it) => made.get(row, it) === saved.get(row, it)));
    while (row < saved.length && isSame()) row++;
    sidecar.close();
    if (isDamaged || row < saved.length)
      report({ file, line: null, detail: "it does not fit the log; nothing is lost: the next start makes it again" });
  }
}

function withFile(file: string, report: Report, check: (bytes: Bytes, name: string) => void): void {
  if (!existsSync(file)) return;
  const bytes = openBytes(file, "r");
  try {
    check(bytes, file);
    const unfinished = unfinishedBytes(bytes);
    if (unfinished > 0)
      report({
        file,
        line: null,
        detail: `its last line is unfinished: ${unfinished} bytes, which the next start cuts off`,
      });
  } finally {
    bytes.close();
  }
}

export type { Damage } from "../../kernel/store/damage.ts";

/** Everything in a data folder that cannot be read, and what is lost by it. It changes nothing in the folder. */
export const checkData = (folder: string): Promise<Damage[]> => checkFolder(resolve(folder), keysOf);
