import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { isObject, type Json } from "../../../kernel/base/json.ts";
import { type Bytes, FileBytes, MemoryBytes } from "../../../kernel/store/bytes.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { sealed, unsealed } from "../../../kernel/store/lines.ts";
import type { SwitchPart } from "../../../kernel/store/switch.ts";
import type { World } from "../../../state/documents/world.ts";
import type { WorldStore } from "../../../state/documents/world-store.ts";
import { readWorld } from "../../../state/documents/world-store.ts";
import type { LogMark, TrafficLog } from "../../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../../state/persons/person-store.ts";

export interface SnapshotFacts {
  name: string;
  /** ms since the epoch, by the sim's clock */
  created_at: number;
  /** Stored persons, and visible events. */
  persons: number;
  events: number;
}

/** A snapshot of a storage; if its label cannot be read, only the name is known. */
export interface StoredSnapshot extends Pick<SnapshotFacts, "name"> {
  created_at: number | null;
  persons: number | null;
  events: number | null;
  /** Why it cannot be restored; null if it can. */
  damaged: string | null;
}

export interface Kept {
  readonly worlds: WorldStore;
  readonly people: PersonStore;
  readonly log: TrafficLog;
  readonly switchTo: (parts: readonly SwitchPart[]) => void;
  /** The data folder; null: snapshots stay in memory. */
  readonly folder: string | null;
}

/** A snapshot without its documents and people, which are read on restore. */
export interface Label extends SnapshotFacts {
  journal: LogMark;
}

/** Storage of snapshots, by names in lower case: file systems may ignore case. */
export interface SnapshotStorage {
  readonly labels: ReadonlyMap<string, Label>;
  readonly damaged: ReadonlyMap<string, StoredSnapshot>;
  put(key: string, label: Label): void;
  remove(key: string): void;
  read(key: string): Promise<{ world: World; people: Bytes }>;
}

interface Held {
  label: Label;
  world: World;
  people: Buffer;
}

/** Snapshots in memory. Documents are replaced, never changed: a snapshot shares them with the world. */
export function memoryStorage({ worlds, people }: Pick<Kept, "worlds" | "people">): SnapshotStorage {
  const held = new Map<string, Held>();
  const labels = new Map<string, Label>();
  return {
    labels,
    damaged: new Map(),
    put(key, label) {
      const lines = new MemoryBytes();
      people.copyInto(lines);
      // changes replace the lists, so that these stay as they are
      const world = { ...worlds.current } as World;
      held.set(key, { label, world, people: lines.read(0, lines.size) });
      labels.set(key, label);
    },
    remove(key) {
      held.delete(key);
      labels.delete(key);
    },
    read(key) {
      const found = held.get(key);
      if (!found) throw new Error(`no snapshot ${key}`);
      return Promise.resolve({ world: found.world, people: bytesOf(found.people) });
    },
  };
}

function bytesOf(buffer: Buffer): Bytes {
  const bytes = new MemoryBytes();
  if (buffer.length > 0) bytes.append(buffer);
  return bytes;
}

const labelName = "snapshot.json";
const worldName = "world.json";
const personsFileName = "people.ndjson";

interface KeptLabel extends Label {
  version: 1;
  /** Size of people.ndjson: a crash may have cut it off. */
  people_bytes: number;
  /** Checksums of its files; snapshots of older versions have none. */
  checks?: { world: number; people: number };
}

/** Files with more bytes are checked on restore only. */
const checkedAtOnce = 16 * 1024 * 1024;

/** Names of folders that are being written or deleted; no snapshot has such a name. */
const drafted = (key: string) => `.${key}.tmp`;
const gone = (key: string) => `.${key}.gone`;

/** Snapshots of a data folder, one folder each, which appears whole or not at all. */
export function folderStorage({ worlds, people }: Pick<Kept, "worlds" | "people">, folder: string): SnapshotStorage {
  let known: Found | undefined;

  /** Read on first use: most runs never need it. */
  function found(): Found {
    if (known) return known;
    if (existsSync(folder)) finishDrafts(folder);
    known = readSnapshots(folder);
    return known;
  }

  function writePersons(file: string): number {
    const lines = new FileBytes(file);
    try {
      people.copyInto(lines);
      return lines.size;
    } finally {
      lines.close();
    }
  }

  /** Renames first: a half deleted folder must not look like a snapshot. */
  function discard(key: string): void {
    const aside = join(folder, gone(key));
    rmSync(aside, { recursive: true, force: true });
    if (existsSync(join(folder, key))) renameSync(join(folder, key), aside);
    rmSync(aside, { recursive: true, force: true });
  }

  return {
    get labels() {
      return found().labels;
    },
    get damaged() {
      return found().damaged;
    },
    put(key, label) {
      const { labels, damaged } = found();
      const draft = join(folder, drafted(key));
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      mkdirSync(draft);
      worlds.saveAs(join(draft, worldName));
      const people_bytes = writePersons(join(draft, personsFileName));
      const checks = { world: checkOf(join(draft, worldName)), people: checkOf(join(draft, personsFileName)) };
      const kept: KeptLabel = { version: 1, ...label, people_bytes, checks };
      writeFileSync(join(draft, labelName), `${sealed(JSON.stringify(kept))}\n`, { mode: 0o600 });
      // from here on the draft is complete: a start would move it into place
      discard(key);
      renameSync(draft, join(folder, key));
      labels.set(key, kept);
      damaged.delete(key);
    },
    remove(key) {
      const { labels, damaged } = found();
      discard(key);
      labels.delete(key);
      damaged.delete(key);
    },
    async read(key) {
      const label = found().labels.get(key);
      const reason = label ? problemOf(join(folder, key), label, Number.POSITIVE_INFINITY) : "it does not exist";
      if (reason) throw damagedSnapshot(label?.name ?? key, reason);
      const world = await readWorld(join(folder, key, worldName));
      return { world, people: new FileBytes(join(folder, key, personsFileName)) };
    },
  };
}

export const damagedSnapshot = (name: string, reason: string): DataFolderError =>
  new DataFolderError(`the snapshot "${name}" is damaged: ${reason}`, {
    file: name,
    hint: "restore its files, or delete it",
  });

interface Found {
  labels: Map<string, KeptLabel>;
  damaged: Map<string, StoredSnapshot>;
}

export function readSnapshots(folder: string): Found {
  const labels: Found["labels"] = new Map();
  const damaged: Found["damaged"] = new Map();
  const keys = existsSync(folder) ? readdirSync(folder).filter((key) => !key.startsWith(".")) : [];
  for (const key of keys) {
    const label = readLabel(join(folder, key, labelName));
    const reason =
      label?.name.toLowerCase() === key
        ? problemOf(join(folder, key), label, checkedAtOnce)
        : `${join(folder, key, labelName)} is missing, damaged or of another version`;
    if (label && !reason) labels.set(key, label);
    else if (reason) damaged.set(key, { ...(label ?? { name: key, ...unknown }), damaged: reason });
  }
  return { labels, damaged };
}

const unknown = { created_at: null, persons: null, events: null };

/** Why a snapshot cannot be restored; undefined if it can. Files larger than `most` are not read. */
function problemOf(folder: string, { people_bytes, checks }: KeptLabel, most: number): string | undefined {
  for (const name of [worldName, personsFileName])
    if (!existsSync(join(folder, name))) return `${join(folder, name)} is missing`;
  const lines = new FileBytes(join(folder, personsFileName), "r");
  try {
    if (lines.size !== people_bytes) return `${join(folder, personsFileName)} was changed or cut off`;
    if (!checks) return undefined;
    if (checkOf(join(folder, worldName)) !== checks.world) return `${join(folder, worldName)} was changed or cut off`;
    if (people_bytes <= most && checkOfBytes(lines) !== checks.people)
      return `${join(folder, personsFileName)} was changed`;
    return undefined;
  } finally {
    lines.close();
  }
}

const piece = 1024 * 1024;

function checkOfBytes(bytes: Bytes): number {
  let check = 0;
  for (let at = 0; at < bytes.size; at += piece) check = crc32(bytes.read(at, piece), check);
  return check;
}

function checkOf(file: string): number {
  const bytes = new FileBytes(file, "r");
  try {
    return checkOfBytes(bytes);
  } finally {
    bytes.close();
  }
}

/** Moves complete drafts into place; the label is written last. */
function finishDrafts(folder: string): void {
  for (const entry of readdirSync(folder)) {
    const key = readLabel(join(folder, entry, labelName))?.name.toLowerCase();
    if (key === undefined || entry !== drafted(key)) continue;
    rmSync(join(folder, key), { recursive: true, force: true });
    renameSync(join(folder, entry), join(folder, key));
  }
}

function readLabel(file: string): KeptLabel | undefined {
  try {
    const text = unsealed(readFileSync(file).subarray(0, -1));
    const value: Json = JSON.parse(text ?? "");
    return isLabel(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const numbers = ["created_at", "persons", "events", "people_bytes"];

/** True for labels that `put` writes; their journal is checked superficially. */
function isLabel(value: unknown): value is KeptLabel {
  if (!isObject(value) || value.version !== 1 || typeof value.name !== "string") return false;
  const { journal } = value;
  return (
    numbers.every((key) => typeof value[key] === "number") &&
    isObject(journal) &&
    isObject(journal.hidden) &&
    Array.isArray(journal.hidden.requests) &&
    Array.isArray(journal.hidden.events)
  );
}
