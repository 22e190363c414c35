import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json } from "../../kernel/json.ts";
import { fileBytes } from "../bytes.ts";
import { DataFolderError } from "../data-folder.ts";
import type { Kept, Label, Shelf } from "../snapshots.ts";
import { readWorld } from "../world.ts";

const labelName = "snapshot.json";
const worldName = "world.json";
const peopleName = "people.ndjson";

/** What snapshot.json holds. */
interface KeptLabel extends Label {
  version: 1;
  /** Size of people.ndjson: a file that was cut off by a crash is shorter. */
  people_bytes: number;
}

/** Names of folders that are being written, or deleted; no snapshot has such a name. */
const drafted = (key: string) => `.${key}.tmp`;
const gone = (key: string) => `.${key}.gone`;

/** Snapshots below a data folder, one folder each; the folder appears whole or not at all. */
export function folderShelf({ worlds, people, onNotice = () => {} }: Kept, folder: string): Shelf {
  let known: Map<string, KeptLabel> | undefined;

  /** Read when first asked for: most runs never ask. */
  function labels(): Map<string, KeptLabel> {
    known ??= readLabels(folder, onNotice);
    return known;
  }

  function writePeople(file: string): number {
    const lines = fileBytes(file);
    try {
      people.copyInto(lines);
      return lines.size;
    } finally {
      lines.close();
    }
  }

  /** Renamed first: what is deleted by halves must not look like a snapshot. */
  function discard(key: string): void {
    const aside = join(folder, gone(key));
    rmSync(aside, { recursive: true, force: true });
    if (existsSync(join(folder, key))) renameSync(join(folder, key), aside);
    rmSync(aside, { recursive: true, force: true });
  }

  return {
    get labels() {
      return labels();
    },
    put(key, label) {
      labels();
      const draft = join(folder, drafted(key));
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft, { recursive: true });
      worlds.saveAs(join(draft, worldName));
      const kept: KeptLabel = { version: 1, ...label, people_bytes: writePeople(join(draft, peopleName)) };
      writeFileSync(join(draft, labelName), `${JSON.stringify(kept)}\n`, { mode: 0o600 });
      // A draft that is complete counts from here on: a start puts it in place.
      discard(key);
      renameSync(draft, join(folder, key));
      labels().set(key, kept);
    },
    remove(key) {
      discard(key);
      labels().delete(key);
    },
    async read(key) {
      const file = join(folder, key, peopleName);
      if (!existsSync(file)) throw damaged(file, "is missing");
      const lines = fileBytes(file);
      try {
        if (lines.size !== labels().get(key)?.people_bytes) throw damaged(file, "was changed or cut off");
        return { world: await readWorld(join(folder, key, worldName)), people: lines };
      } catch (error) {
        lines.close();
        throw error;
      }
    },
  };
}

const damaged = (file: string, what: string): DataFolderError =>
  new DataFolderError(`${file} ${what}`, { file, hint: "delete the snapshot, or restore its files" });

function readLabels(folder: string, onNotice: (text: string) => void): Map<string, KeptLabel> {
  const found = new Map<string, KeptLabel>();
  if (!existsSync(folder)) return found;
  finishDrafts(folder);
  for (const key of readdirSync(folder)) {
    if (key.startsWith(".")) continue;
    const file = join(folder, key, labelName);
    const label = readLabel(file);
    if (label?.name.toLowerCase() === key) found.set(key, label);
    else onNotice(`${file} is not a snapshot of this version; it is left alone`);
  }
  return found;
}

/** The label is written last: a draft that has it is complete, and lacks only its name. */
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
    const value: Json = JSON.parse(readFileSync(file, "utf8"));
    return isLabel(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const numbers = ["created_at", "persons", "events", "people_bytes"];

/** Is it what `put` writes? Its journal is looked at no further than that. */
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
