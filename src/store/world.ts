import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { CollectionName, DocumentOf, World, Worlds } from "../model/world.ts";
import type { Damage } from "./damage.ts";
import { DataFolderError } from "./data-folder.ts";
import { type Migration, migrations } from "./migrations.ts";
import type { SwitchPart } from "./switch.ts";
import type { Unit } from "./unit.ts";
import { createChanger } from "./world/change.ts";
import { replayChanges } from "./world/changes-file.ts";
import { createDocument, type WorldDocument } from "./world/document.ts";
import { createKeeper, type Keeper, noKeeper } from "./world/keeper.ts";
import { checkedWorld, openSealed, readWorldFile, salvagedWorld, writeDraft } from "./world-file.ts";

export interface WorldOptions {
  /** Data folder for world.json and world.changes.ndjson; without it the world stays in memory. */
  folder?: string;
  /** The document to start with when there is none. */
  seedWorld: () => World;
  /** Told when a write that nobody waits for fails, and when files had to be repaired. */
  onNotice?: (text: string) => void;
  /** Writes changes together with all that belongs to them; without it they are written alone. */
  commit?: () => void;
  /** Called for each document or line that cannot be read. */
  onDamage?: (damage: Damage) => void;
  /** For tests of the machinery. */
  migrations?: readonly Migration[];
}

/** The world document, kept in files or in memory. */
export interface WorldStore extends Worlds {
  /**
   * Replaces this document with another.
   * @throws Error when two of its documents share an id, or two projects a key
   */
  replacing(world: World): SwitchPart;
  /** Writes the world to another file. @throws the system's error */
  saveAs(file: string): void;
  /** The changes since they were last settled. */
  readonly unit: Unit;
  /** Writes world.json and stops writing. Harmless when done twice. */
  close(): void;
}

const fileName = "world.json";
const changesName = "world.changes.ndjson";

/**
 * Opens world.json of a data folder and applies the changes file, or starts from the seed. Of a damaged world.json a copy is kept
 * beside it.
 * @throws DataFolderError when world.json is not a world, or newer than this version.
 */
export async function openWorld(options: WorldOptions): Promise<WorldStore> {
  const { folder, seedWorld, onNotice = () => {}, onDamage = () => {} } = options;
  if (folder === undefined) return memoryWorld(seedWorld());
  const file = join(folder, fileName);
  const changesFile = join(folder, changesName);
  const { world, isSealed, isFound } = await load(file, options);
  const isReplayed = replayChanges(changesFile, world, onNotice, onDamage);
  if (isReplayed && !isFound) onNotice(seededAgain(file, changesFile));
  const keeper = createKeeper({
    world,
    file,
    changesFile,
    isSaved: isSealed && !isReplayed,
    hasBase: isFound || isReplayed,
    onNotice,
    ...(options.commit && { commit: options.commit }),
  });
  return worldStore(world, keeper);
}

/** A world that is not kept. */
export const memoryWorld = (world: World): WorldStore => worldStore(createDocument(world), noKeeper);

/**
 * The world of a file that `saveAs` wrote.
 * @throws DataFolderError when it is missing, damaged, not a world, or newer than this version.
 */
export async function readWorld(file: string): Promise<World> {
  const seedWorld = () => {
    throw new DataFolderError(`${file} is missing`, {
      file,
      hint: "the snapshot is not complete: delete it",
    });
  };
  const { world } = await load(file, { seedWorld });
  return { ...world.view };
}

const seededAgain = (file: string, changesFile: string): string =>
  `${file} is missing: what ${changesFile} holds was added to the scenario's world`;

interface Loaded {
  world: WorldDocument;
  isSealed: boolean;
  isFound: boolean;
}

async function load(
  file: string,
  { seedWorld, migrations: steps = migrations, onDamage }: WorldOptions,
): Promise<Loaded> {
  const sealed = openSealed(file, steps.length + 1);
  if (sealed) return { world: createDocument(sealed), isSealed: true, isFound: true };
  const found = await readChecked(file, steps).catch(async (error: unknown) => {
    const rest = onDamage && (await salvagedWorld(file, onDamage));
    if (!rest) throw error;
    copyFileSync(file, `${file}.damaged`);
    return rest;
  });
  return { world: createDocument(found ?? seedWorld()), isSealed: false, isFound: found !== undefined };
}

/** Undefined when there is no file. @throws DataFolderError */
async function readChecked(file: string, steps: readonly Migration[]): Promise<World | undefined> {
  const found = readWorldFile(file, steps);
  return found && checkedWorld(file, found);
}

function worldStore(world: WorldDocument, keeper: Keeper): WorldStore {
  return {
    current: world.view,
    projectByKey: world.projectByKey,
    projectById: (id) => world.get("projects", id) as DocumentOf<"projects"> | undefined,
    // A collection holds documents of its kind only.
    get: <C extends CollectionName>(collection: C, id: DocumentOf<C>["id"]) =>
      world.get(collection, id) as DocumentOf<C> | undefined,
    versionOf: world.versionOf,
    change: createChanger(world, keeper.record),
    replacing(other) {
      const next = createDocument(other);
      return {
        write: (folder) => writeDraft(join(folder, fileName), next.sections()).publish(),
        take() {
          world.load(other);
          keeper.replaced();
        },
      };
    },
    saveAs: (file) => writeDraft(file, world.sections()).publish(),
    unit: keeper.unit,
    close: keeper.close,
  };
}
