import { existsSync, readFileSync, realpathSync } from "node:fs";
import { StorageRefusal } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { MemoryBytes } from "../../kernel/store/bytes.ts";
import { type ClockFile, clockFile } from "../../kernel/store/clock-file.ts";
import { createDamageList, type DamageList } from "../../kernel/store/damage.ts";
import {
  DataFolderError,
  folderError,
  isSystemError,
  lockPath,
  openBytes,
  openDataFolder,
  readLocator,
} from "../../kernel/store/data-folder.ts";
import { FolderGuard } from "../../kernel/store/folder-guard.ts";
import { finishSwitch, type SwitchPart, switchFiles } from "../../kernel/store/switch.ts";
import { createSnapshots, type Snapshots } from "../../lab/scenario/state/snapshots.ts";
import type { World } from "../../state/documents/world.ts";
import { memoryWorld, openWorld, type WorldStore } from "../../state/documents/world-store.ts";
import { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { dropDraft, type Keep } from "../../state/journal/log/trim.ts";
import type { EventKey, TrafficLine } from "../../state/journal/traffic.ts";
import { openPersonStore, type PersonStore } from "../../state/persons/person-store.ts";
import { FolderContents } from "./contents.ts";

/** Everything that is kept: documents, people, traffic. In a folder, or in memory. */
export interface Store {
  readonly worlds: WorldStore;
  readonly people: PersonStore;
  readonly log: TrafficLog;
  readonly snapshots: Snapshots;
  readonly clock?: ClockFile;
  readonly damage: DamageList;
  /** Absolute path of the data folder, or null in memory. */
  readonly folder: string | null;
  /** Replaces this state or a part, whole or not at all, even if the process is killed. @throws the system's error */
  switchTo(parts: readonly SwitchPart[]): void;
  announce(info: Readonly<Record<string, unknown>>): void;
  close(): Promise<void>;
}

export interface StoreOptions {
  folder: string | null;
  seedWorld: () => World;
  /** Index keys of a line's events, for rebuilding the index after a crash. */
  keysOf: (line: TrafficLine) => EventKey[];
  keep: Keep | undefined;
  /** Ports that a sim with an unreadable lock may listen on. */
  ports: readonly number[];
  now: () => number;
  onNotice: (text: string) => void;
}

/** @throws DataFolderError when the folder cannot be used or holds damaged files */
export async function openStore(options: StoreOptions): Promise<Store> {
  return options.folder === null ? inMemory(options) : inFolder(options, options.folder);
}

async function inMemory({ seedWorld, keysOf, keep, now, onNotice }: StoreOptions): Promise<Store> {
  const worlds = memoryWorld(seedWorld());
  const people = openPersonStore({ onNotice });
  const log = new TrafficLog({
    bytes: new MemoryBytes(),
    keysOf,
    ...(keep && { keep }),
    now,
    units: [people.unit],
    onNotice,
  });
  const switchTo: Store["switchTo"] = (parts) => {
    log.commit();
    for (const part of parts) part.take();
  };
  const snapshots = createSnapshots({ worlds, people, log, switchTo, folder: null });
  const close = () => closeAll(log, people, worlds);
  const damage = createDamageList();
  return { worlds, people, log, snapshots, switchTo, damage, folder: null, announce() {}, close };
}

async function inFolder({ seedWorld, keysOf, keep, now, ports, onNotice }: StoreOptions, path: string): Promise<Store> {
  await mustBeFree(path, ports);
  const folder = openDataFolder(path);
  const damage = createDamageList(onNotice);
  const guard = new FolderGuard({ report: damage.report, mustHold });

  function mustHold(): void {
    const file = lockPath(path);
    const report = (detail: string) => damage.report({ file, line: null, detail });
    try {
      if (folder.hold()) report("another program deleted or changed this file while the sim ran; it was written again");
    } catch (error) {
      if (error instanceof StorageRefusal) report(error.message);
      throw error;
    }
  }

  try {
    finishSwitch(folder.path, onNotice);
    const contents = new FolderContents(folder.path, damage.report);
    contents.reportMissing();
    dropDraft(folder.file("traffic.ndjson"));
    const onDamage = damage.report;
    const commit = () => log.commit();
    const worlds = await openWorld({ folder: folder.path, seedWorld, onNotice, onDamage, guard, commit });
    const people = openPersonStore({ folder: folder.path, onNotice, onDamage, guard });
    const log = new TrafficLog({
      bytes: openBytes(folder.file("traffic.ndjson")),
      sidecars: { requests: folder.file("requests.idx"), events: folder.file("events.idx") },
      keysOf,
      // What traffic refers to is on disk before it: the project it was adopted by, the persons it made.
      units: [worlds.unit, people.unit],
      ...(keep && { keep }),
      now,
      guard,
      onNotice,
      onDamage,
      name: folder.file("traffic.ndjson"),
    });
    const switchTo: Store["switchTo"] = (parts) => {
      log.commit();
      switchFiles(folder.path, parts);
    };
    const snapshots = createSnapshots({ worlds, people, log, switchTo, folder: folder.path });
    const found = () => contentsOf({ people, log, snapshots });
    guard.also(() => contents.keep(found()));
    people.onChange((change) => {
      if (change?.kind === "clear") contents.drop("people.ndjson");
    });
    return {
      worlds,
      people,
      log,
      damage,
      snapshots: {
        ...snapshots,
        get isEmpty() {
          return snapshots.isEmpty;
        },
        remove(name) {
          contents.drop(snapshotFolder(name));
          return snapshots.remove(name);
        },
      },
      switchTo,
      clock: clockFile(folder.file("clock.json"), onDamage),
      folder: folder.path,
      announce: (info) => folder.announce(info),
      async close() {
        // counted while the log is open, and kept once all files are written
        const last = Object.entries(found()).map(([name, text]) => [name, text()] as const);
        try {
          await closeAll(log, people, worlds, guard);
          if (guard.isWritable) contents.keep(Object.fromEntries(last.map(([name, it]) => [name, () => it])), true);
        } finally {
          folder.release();
        }
      },
    };
  } catch (error) {
    guard.close();
    folder.release();
    throw error instanceof DataFolderError || !isSystemError(error) ? error : folderError(folder.path, error);
  }
}

const snapshotFolder = (name: string): string => `snapshots/${name.toLowerCase()}`;

function contentsOf({ people, log, snapshots }: Pick<Store, "people" | "log" | "snapshots">) {
  const { persons, groups } = people.counts();
  const text = (words: string) => () => words;
  return {
    "world.json": text("the documents"),
    "scenario.json": text("the scenario that was last applied"),
    "clock.json": text("how the clock was set"),
    ...(persons + groups > 0 && { "people.ndjson": text(counted(persons, "person")) }),
    ...(log.lastRequest >= log.firstRequest && {
      "traffic.ndjson": () => {
        const { requests, events } = log.counts();
        return `${counted(requests, "request")} with ${counted(events, "event")}`;
      },
    }),
    ...Object.fromEntries(snapshots.list().map(({ name }) => [snapshotFolder(name), text("a snapshot")])),
  };
}

async function closeAll(log: TrafficLog, people: PersonStore, worlds: WorldStore, guard?: FolderGuard): Promise<void> {
  try {
    await log.close();
  } finally {
    guard?.close();
    try {
      people.close();
    } finally {
      worlds.close();
    }
  }
}

/** Limit of one question, ms. */
const askMs = 2000;
const mostPorts = 5;

/** Of a damaged lock, the ports in its text and the usual ones are asked for its sim. @throws DataFolderError */
async function mustBeFree(folder: string, usual: readonly number[]): Promise<void> {
  const file = lockPath(folder);
  if (!existsSync(file) || readLocator(folder)) return;
  const named = portsIn(file);
  const ports = new Set([...named, ...usual].filter((it) => it > 0 && it < 65_536));
  for (const port of [...ports].slice(0, mostPorts)) {
    const url = `http://127.0.0.1:${port}`;
    const info = await askInfo(url);
    // without its token a sim does not show its folder
    const isLocked = info?.code === "control_token_required" && named.includes(port);
    const isHolder = typeof info?.data === "string" && isSameFolder(info.data, folder);
    if (!isLocked && !isHolder) continue;
    const holder = isHolder ? `pid ${info.pid} at ${url}` : `the phx-sim at ${url}`;
    throw new DataFolderError(`data folder ${folder} is in use by ${holder}`, {
      file,
      hint: "stop it, or use --data or --memory",
    });
  }
}

function portsIn(file: string): number[] {
  try {
    return [...readFileSync(file, "latin1").matchAll(/:(\d{2,5})\b/g)].map(([, port]) => Number(port));
  } catch {
    // opening the folder reports it
    return [];
  }
}

async function askInfo(url: string): Promise<JsonObject | undefined> {
  try {
    const answer = await fetch(`${url}/__sim/info`, { signal: AbortSignal.timeout(askMs), redirect: "error" });
    const info = (await answer.json()) as Json;
    return isObject(info) ? info : undefined;
  } catch {
    return undefined;
  }
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
