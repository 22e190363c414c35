import { join } from "node:path";
import { LowSync, type SyncAdapter } from "lowdb";
import type { Project, World, Worlds } from "../model/world.ts";
import { DataFolderError } from "./data-folder.ts";
import type { Migration } from "./migrations.ts";
import { checkedWorld, readWorldFile, writeWorldFile } from "./world-file.ts";

export interface WorldOptions {
  /** Data folder for world.json; without it the world stays in memory. */
  folder?: string;
  /** The document to start with when there is none. */
  seedWorld: () => World;
  /** Told when a write that nobody waits for fails; it is tried again with the next one. */
  onNotice?: (text: string) => void;
  /** For tests of the machinery. */
  migrations?: readonly Migration[];
}

/** The world document, kept in a file or in memory. */
export interface WorldStore extends Worlds {
  /** Puts another document in the place of this one. @throws Error when two of its projects share a key or an id. */
  replace(world: World): void;
  /** Writes changes now. @throws the system's error; the changes then wait on. */
  flush(): void;
  /** Flushes and stops writing. Harmless when done twice. */
  close(): void;
}

const fileName = "world.json";
/** Changes within this time are written together, ms. */
const coalesce = 50;

/** lowdb's `LowSync`, as far as it is used here. */
interface Database {
  data: World;
  write(): void;
}

/**
 * Opens world.json of a data folder, or starts one from the seed.
 * @throws DataFolderError when the file is not JSON, not a world, or newer than this version.
 */
export async function openWorld(options: WorldOptions): Promise<WorldStore> {
  const { folder, onNotice = () => {} } = options;
  if (folder === undefined) return worldStore({ data: options.seedWorld(), write() {} }, false, onNotice);
  const file = join(folder, fileName);
  const { world, isSaved } = await load(file, options);
  // What was read is checked by now, which takes an asynchronous import: lowdb is handed it as the data.
  const adapter: SyncAdapter<World> = { read: () => null, write: (data) => writeWorldFile(file, data) };
  return worldStore(new LowSync(adapter, world), !isSaved, onNotice);
}

async function load(
  file: string,
  { seedWorld, migrations }: WorldOptions,
): Promise<{ world: World; isSaved: boolean }> {
  const found = readWorldFile(file, migrations);
  if (!found) return { world: seedWorld(), isSaved: false };
  // The seal says that we wrote this document after checking it.
  const world = found.isSealed
    ? (found.document as unknown as World)
    : await checkedWorld(file, found.document);
  const clash = clashIn(world);
  if (clash) {
    throw new DataFolderError(`${file}: ${clash}`, { file, hint: "give each project its own" });
  }
  return { world, isSaved: found.isSealed };
}

function worldStore(database: Database, isNew: boolean, onNotice: (text: string) => void): WorldStore {
  let byKey = new Map<string, Project>();
  let byId = new Map<number, Project>();
  let isDirty = false;
  // A new folder's document can be made again from its seed: it waits for the timer, no answer waits for it.
  let isUnsaved = isNew;
  let timer: NodeJS.Timeout | undefined;

  function index(): void {
    byKey = new Map(database.data.projects.map((project) => [project.api_key, project]));
    byId = new Map(database.data.projects.map((project) => [project.id, project]));
  }

  function save(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!isDirty && !isUnsaved) return;
    database.write();
    isDirty = false;
    isUnsaved = false;
  }

  function saveSoon(): void {
    timer ??= setTimeout(() => {
      try {
        save();
      } catch (error) {
        onNotice(
          `${fileName} could not be written: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }, coalesce).unref();
  }

  function changed(): void {
    index();
    isDirty = true;
    saveSoon();
  }

  function replace(world: World): void {
    const clash = clashIn(world);
    if (clash) throw new Error(clash);
    database.data = world;
    changed();
  }

  index();
  if (isNew) saveSoon();
  return {
    get current() {
      return database.data;
    },
    projectByKey: (apiKey) => byKey.get(apiKey),
    projectById: (id) => byId.get(id),
    change(edit) {
      const undo = projectsUndo(database.data);
      const result = edit(database.data);
      const clash = clashIn(database.data);
      if (clash) {
        undo();
        throw new Error(clash);
      }
      changed();
      return result;
    },
    replace,
    flush() {
      if (isDirty) save();
    },
    close: save,
  };
}

/** Puts the list of projects, their ids and keys back as they are now. */
function projectsUndo(world: World): () => void {
  const before = world.projects.map((project) => ({ project, id: project.id, api_key: project.api_key }));
  return () => {
    world.projects = before.map(({ project, id, api_key }) => Object.assign(project, { id, api_key }));
  };
}

/** Says which two projects share a key or an id; undefined when none do. */
function clashIn({ projects }: World): string | undefined {
  const owners = new Map<string | number, Project>();
  for (const project of projects) {
    for (const [what, value] of [
      ["api_key", project.api_key],
      ["id", project.id],
    ] as const) {
      const other = owners.get(value);
      if (other) {
        return `projects ${nameOf(other)} and ${nameOf(project)} have the same ${what} ${JSON.stringify(value)}`;
      }
      owners.set(value, project);
    }
  }
  return undefined;
}

const nameOf = (project: Project): string => `${JSON.stringify(project.name)} (${project.id})`;
