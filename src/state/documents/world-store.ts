import { join } from "node:path";
import type { Damage } from "../../kernel/store/damage.ts";
import { DataFolderError } from "../../kernel/store/data-folder.ts";
import type { FolderGuard } from "../../kernel/store/folder-guard.ts";
import type { SwitchPart } from "../../kernel/store/switch.ts";
import type { Unit } from "../../kernel/store/unit.ts";
import { fileName, WorldDatabase } from "./store/database.ts";
import { clashOf, WorldDocument } from "./store/document.ts";
import type { Migration } from "./store/migrations.ts";
import { checkedWorld, readWorldFile, writeWorldFile } from "./store/world-file.ts";
import type { World, Worlds } from "./world.ts";

export interface WorldOptions {
  /** Data folder for world.json and world.changes.ndjson; without it the world stays in memory. */
  folder?: string;
  seedWorld: () => World;
  /** Receives failures of writes that no request waits for, and repairs of files. */
  onNotice?: (text: string) => void;
  commit?: () => void;
  onDamage?: (damage: Damage) => void;
  guard?: FolderGuard;
  migrations?: readonly Migration[];
}

/** The world document, kept in files or in memory. */
export interface WorldStore extends Worlds {
  /** Replaces this document with another. @throws Error when two of its documents share an id, or two projects a key */
  replacing(world: World): SwitchPart;
  saveAs(file: string): void;
  readonly unit: Unit;
  close(): void;
}

/**
 * Opens world.json of a data folder and applies the changes file, or starts from the seed. Of a damaged world.json a copy is kept
 * beside it.
 * @throws DataFolderError when world.json is not a world, or newer than this version.
 */
export async function openWorld(options: WorldOptions): Promise<WorldStore> {
  const { folder, seedWorld, onNotice = () => {} } = options;
  if (folder === undefined) return memoryWorld(seedWorld());
  const database = await WorldDatabase.open({ ...options, folder, onNotice });
  return worldStore(database.world, database);
}

const unkept: Keeper = { record() {}, replaced() {}, unit: { write() {}, settle() {}, rollBack() {} }, close() {} };

export const memoryWorld = (world: World): WorldStore => worldStore(new WorldDocument(world), unkept);

/** The world of a file by `saveAs`. @throws DataFolderError if missing, damaged, not a world, or newer than this version */
export async function readWorld(file: string): Promise<World> {
  const found = readWorldFile(file);
  const hint = "the snapshot is not complete: delete it";
  if (!found) throw new DataFolderError(`${file} is missing`, { file, hint });
  return checkedWorld(file, found);
}

type Keeper = Pick<WorldDatabase, "record" | "replaced" | "unit" | "close">;

const worldStore = (world: WorldDocument, keeper: Keeper): WorldStore => ({
  current: world.view,
  projectByKey: (apiKey) => world.projectByKey(apiKey),
  projectById: (id) => world.get("projects", id),
  get: (collection, id) => world.get(collection, id),
  versionOf: (collection) => world.versionOf(collection),
  change: (edit) => world.change(edit, (steps, undo) => keeper.record(steps, undo)),
  replacing(other) {
    const clash = clashOf(other);
    if (clash) throw new Error(clash);
    return {
      write: (folder) => writeWorldFile(join(folder, fileName), other),
      take() {
        world.load(other);
        keeper.replaced();
      },
    };
  },
  saveAs: (file) => writeWorldFile(file, world.view),
  unit: keeper.unit,
  close: () => keeper.close(),
});
