import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readOpening } from "../../journal/log/log-lines.ts";
import { createTrafficIndex, readTraffic } from "../../journal/log/traffic-index.ts";
import { keysOf } from "../../journal/show.ts";
import type { EventKey, TrafficLine } from "../../journal/traffic.ts";
import { keyHash } from "../../people/store/apply.ts";
import { createLineLog } from "../../people/store/log.ts";
import { mustBePeople, replayPeople } from "../../people/store/replay.ts";
import { createPeopleState } from "../../people/store/state.ts";
import { readSnapshots } from "../../scenario/state/snapshot-storage.ts";
import type { Bytes } from "../../store/bytes.ts";
import { clockFile } from "../../store/clock-file.ts";
import type { Damage } from "../../store/damage.ts";
import { DataFolderError, openBytes } from "../../store/data-folder.ts";
import { unfinishedBytes } from "../../store/lines.ts";
import { unfinishedSwitches } from "../../store/switch.ts";
import { readChanges } from "../../world/store/changes-file.ts";
import { WorldDocument } from "../../world/store/document.ts";
import { salvagedWorld } from "../../world/store/salvage.ts";
import { checkedWorld, readWorldFile } from "../../world/store/world-file.ts";
import { emptyWorld } from "../../world/world.ts";

type Report = (damage: Damage) => void;
type KeysOf = (line: TrafficLine) => EventKey[];

/** Looks for damage in one part of a folder. @throws DataFolderError when the part cannot be used at all */
type Check = (folder: string, report: Report, keysOf: KeysOf) => void | Promise<void>;

const checks: readonly Check[] = [
  (folder, report) => checkWorld(join(folder, "world.json"), report),
  (folder, report) =>
    withFile(join(folder, "world.changes.ndjson"), report, (bytes, name) =>
      readChanges(bytes, name, new WorldDocument(emptyWorld()), report),
    ),
  (folder, report) =>
    withFile(join(folder, "people.ndjson"), report, (bytes, name) => {
      mustBePeople(bytes, name);
      replayPeople({ state: createPeopleState(createLineLog(bytes), keyHash), bytes, name, report }, 0);
    }),
  (folder, report, keysOf) =>
    withFile(join(folder, "traffic.ndjson"), report, (bytes, name) => {
      const opening = readOpening(bytes, name);
      if (!opening) return;
      const index = createTrafficIndex({ opening, keysOf });
      index.fillUp();
      readTraffic({ index, bytes, name, opening, report }, 0);
    }),
  (folder, report) => void clockFile(join(folder, "clock.json"), report).read(),
  (folder, report) => {
    for (const found of unfinishedSwitches(folder)) report({ ...found, line: null });
  },
  (folder, report) => {
    for (const [key, { damaged }] of readSnapshots(join(folder, "snapshots")).damaged)
      report({
        file: join(folder, "snapshots", key),
        line: null,
        detail: `this snapshot is damaged: ${damaged}`,
      });
  },
];

/** Everything in a data folder that cannot be read. It changes nothing; index files are left out: they are made anew. */
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
  const found = readWorldFile(file);
  try {
    if (found) await checkedWorld(file, found);
  } catch (error) {
    if (!(await salvagedWorld(file, report))) throw error;
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

export type { Damage } from "../../store/damage.ts";

/** Everything in a data folder that cannot be read, and what is lost by it. It changes nothing in the folder. */
export const checkData = (folder: string): Promise<Damage[]> => checkFolder(resolve(folder), keysOf);
