import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EventKey, TrafficLine } from "../model/traffic.ts";
import { emptyWorld } from "../model/world.ts";
import { type Bytes, fileBytes } from "./bytes.ts";
import { clockFile } from "./clock-file.ts";
import type { Damage } from "./damage.ts";
import { DataFolderError, fileError } from "./data-folder.ts";
import { unfinishedBytes } from "./lines.ts";
import { migrations } from "./migrations.ts";
import { keyHash } from "./people/apply.ts";
import { createLineLog } from "./people/log.ts";
import { mustBePeople, replayPeople } from "./people/replay.ts";
import { createPeopleState } from "./people/state.ts";
import { readSnapshots } from "./snapshots/folder.ts";
import { unfinishedSwitches } from "./switch.ts";
import { createTrafficIndex, readOpening, readTraffic } from "./traffic-index.ts";
import { readChanges } from "./world/changes-file.ts";
import { createDocument } from "./world/document.ts";
import { checkedWorld, openSealed, readWorldFile, salvagedWorld } from "./world-file.ts";

type Report = (damage: Damage) => void;
type KeysOf = (line: TrafficLine) => EventKey[];

/** Looks for damage in one part of a folder. @throws DataFolderError when the part cannot be used at all */
type Check = (folder: string, report: Report, keysOf: KeysOf) => void | Promise<void>;

const checks: readonly Check[] = [
  (folder, report) => checkWorld(join(folder, "world.json"), report),
  (folder, report) =>
    withFile(join(folder, "world.changes.ndjson"), report, (bytes, name) =>
      readChanges(bytes, name, createDocument(emptyWorld()), report),
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
export async function checkFolder(folder: string, keysOf: KeysOf): Promise<Damage[]> {
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
  if (openSealed(file, migrations.length + 1)) return;
  const document = readWorldFile(file);
  try {
    if (document) await checkedWorld(file, document);
  } catch (error) {
    if (!(await salvagedWorld(file, report))) throw error;
  }
}

function withFile(file: string, report: Report, check: (bytes: Bytes, name: string) => void): void {
  if (!existsSync(file)) return;
  const bytes = opened(file);
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

function opened(file: string): Bytes {
  try {
    return fileBytes(file, "r");
  } catch (error) {
    throw fileError(file, error);
  }
}
