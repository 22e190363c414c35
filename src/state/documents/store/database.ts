import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Adapter, Low } from "lowdb";
import { messageOf, storageTrouble } from "../../../kernel/base/errors.ts";
import { asideName } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { markOf } from "../../../kernel/store/data-folder.ts";
import type { FolderGuard } from "../../../kernel/store/folder-guard.ts";
import type { Unit } from "../../../kernel/store/unit.ts";
import { emptyWorld, type World } from "../world.ts";
import { ChangesFile, changeLine, replaceLine } from "./changes-file.ts";
import { type Step, WorldDocument } from "./document.ts";
import type { Migration } from "./migrations.ts";
import { salvagedWorld } from "./salvage.ts";
import { bytesOf, checkedWorld, isSealed, readWorldFile, writeInBackground, writeWorldFile } from "./world-file.ts";

export const fileName = "world.json";
const changesName = "world.changes.ndjson";

interface FolderOptions {
  folder: string;
  seedWorld: () => World;
  onNotice: (text: string) => void;
  onDamage?: ((damage: Damage) => void) | undefined;
  guard?: FolderGuard | undefined;
  migrations?: readonly Migration[] | undefined;
}

/** lowdb's adapter for a data folder: world.json, and the changes file with what world.json does not have yet. */
class FolderAdapter implements Adapter<WorldDocument> {
  readonly file: string;
  readonly changes: ChangesFile;
  hasBase = false;
  isSaved = false;
  edition = 0;
  readonly #options: FolderOptions;
  #known: string | undefined;
  #hasFile = false;

  constructor(options: FolderOptions) {
    this.file = join(options.folder, fileName);
    this.changes = new ChangesFile(join(options.folder, changesName));
    this.#options = options;
  }

  async read(): Promise<WorldDocument> {
    const { folder, seedWorld, onNotice, onDamage = () => {} } = this.#options;
    const found = await this.#readWorld();
    if (found) this.know();
    const world = new WorldDocument(found?.world ?? seedWorld());
    const isReplayed = this.changes.replay(world, onNotice, onDamage);
    if (isReplayed && !found)
      onNotice(`${this.file} is missing: what ${join(folder, changesName)} holds was added to the scenario's world`);
    this.hasBase = found !== undefined || isReplayed;
    this.isSaved = found?.isSealed === true && !isReplayed;
    return world;
  }

  async #readWorld(): Promise<{ world: World; isSealed: boolean } | undefined> {
    const { onDamage, migrations } = this.#options;
    try {
      const found = readWorldFile(this.file, migrations);
      if (!found) return undefined;
      const world = await checkedWorld(this.file, found);
      for (const detail of found.missing) onDamage?.({ file: this.file, line: null, detail });
      return { world, isSealed: found.isSealed };
    } catch (error) {
      const world = onDamage && (await salvagedWorld(this.file, onDamage));
      if (!world) throw error;
      copyFileSync(this.file, `${this.file}.damaged`);
      return { world, isSealed: false };
    }
  }

  /** Replaces world.json unless `edition` changes meanwhile. @throws the system's error */
  async write(world: WorldDocument): Promise<void> {
    const { edition } = this;
    this.#keepOther();
    await writeInBackground(this.file, world.view, () => edition === this.edition);
    if (edition === this.edition) this.know();
  }

  writeSync(world: WorldDocument): void {
    this.edition++;
    this.#keepOther();
    writeWorldFile(this.file, world.view);
    this.know();
  }

  get isGone(): boolean {
    return this.#hasFile && (statSync(this.file, { throwIfNoEntry: false })?.size ?? 0) === 0;
  }

  know(): void {
    this.#known = markOf(this.file);
    this.#hasFile = true;
  }

  /** A copy of a world.json that another program wrote is kept. Times and numbers of files differ on some file systems: the seal decides. */
  #keepOther(): void {
    const found = markOf(this.file);
    if (found === undefined || found === this.#known || this.isGone || isSealed(bytesOf(this.file))) return;
    const aside = asideName(this.file);
    copyFileSync(this.file, aside);
    const detail = `another program changed this file while the sim ran; the sim wrote its own documents, and the other file is ${aside}`;
    this.#options.onDamage?.({ file: this.file, line: null, detail });
  }
}

interface DatabaseOptions extends FolderOptions {
  commit?: (() => void) | undefined;
}

/** Changes within this time are written to world.json together, ms. */
const coalesce = 50;
/** Writing world.json may take this share of the time. */
const share = 1 / 10;

/**
 * The world of a data folder in a lowdb database. Each change is a line of the changes file before its request is answered; lowdb
 * writes the whole document to world.json a little later.
 */
export class WorldDatabase {
  readonly #adapter: FolderAdapter;
  readonly #database: Low<WorldDocument>;
  readonly #commit: () => void;
  readonly #onNotice: (text: string) => void;
  #waiting: string[] = [];
  /** Undo the changes since the last settling; to be called in reverse. */
  #undo: (() => void)[] = [];
  // A new folder's world can be made again from its seed: it is written before its first change, not before an answer.
  #needsBase: boolean;
  #isDirty: boolean;
  #isSaving = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #wait = coalesce;
  #settled: { end: number; needsBase: boolean };
  #mayWrite = (): boolean => true;
  #isReported = false;

  static async open(options: DatabaseOptions): Promise<WorldDatabase> {
    const adapter = new FolderAdapter(options);
    const database = new Low<WorldDocument>(adapter, new WorldDocument(emptyWorld()));
    await database.read();
    return new WorldDatabase(adapter, database, options);
  }

  private constructor(adapter: FolderAdapter, database: Low<WorldDocument>, options: DatabaseOptions) {
    this.#adapter = adapter;
    this.#database = database;
    this.#commit = options.commit ?? (() => this.#commitAlone());
    this.#onNotice = options.onNotice;
    this.#needsBase = !adapter.hasBase;
    this.#isDirty = !adapter.isSaved;
    this.#settled = { end: adapter.changes.size, needsBase: this.#needsBase };
    if (this.#isDirty) this.#saveSoon();
    this.#watch(options);
  }

  #watch({ guard, onDamage }: DatabaseOptions): void {
    const { changes, file } = this.#adapter;
    this.#mayWrite = () => guard?.isWritable !== false;
    guard?.watch({
      name: changes.path,
      bytes: () => (this.#isClosed ? undefined : changes.bytes),
      reread: (how) => {
        changes.bytes?.accept();
        if (how === "shrunk") changes.append(replaceLine(this.world.view));
        this.#settled.end = changes.size;
        this.#isDirty = true;
        this.#saveSoon();
      },
    });
    guard?.also(() => {
      if (this.#isClosed || this.#isDirty || this.#isSaving || !this.#adapter.isGone) return;
      this.#adapter.writeSync(this.world);
      const detail = "another program deleted or emptied this file while the sim ran; it was written again";
      onDamage?.({ file, line: null, detail });
    });
  }

  get world(): WorldDocument {
    return this.#database.data;
  }

  record(steps: readonly Step[], undo: () => void): void {
    const line = changeLine(steps, () => this.world.grownSequences());
    if (line === "") return;
    this.#undo.push(undo);
    this.#waiting.push(line);
    this.#isDirty = true;
    this.#saveSoon();
  }

  /** The recorded changes; `write` makes one system call. */
  readonly unit: Unit = {
    write: () => {
      if (this.#waiting.length === 0) return;
      this.#adapter.changes.append(this.#needsBase ? replaceLine(this.world.view) : this.#waiting.join(""));
      this.#waiting = [];
      this.#needsBase = false;
    },
    settle: () => {
      this.#undo = [];
      this.#settled = { end: this.#adapter.changes.size, needsBase: this.#needsBase };
    },
    rollBack: () => {
      for (const undo of this.#undo.reverse()) undo();
      this.#undo = [];
      this.#waiting = [];
      this.#needsBase = this.#settled.needsBase;
      // Without lines world.json has everything again: no write is tried on a full disk without need.
      if (this.#settled.end === 0 && !this.#needsBase && !this.#isSaving) this.#isDirty = false;
      this.#adapter.changes.cut(this.#settled.end);
    },
  };

  #commitAlone(): void {
    this.unit.write();
    this.unit.settle();
  }

  #saveSoon(): void {
    if (this.#isClosed || this.#isSaving) return;
    this.#timer ??= setTimeout(() => void this.#save(), this.#wait).unref();
  }

  async #save(): Promise<void> {
    const { edition, changes } = this.#adapter;
    const startedAt = performance.now();
    let end = 0;
    this.#timer = undefined;
    if (!this.#isDirty) return;
    try {
      this.#commit();
      end = changes.size;
      this.#isSaving = true;
      this.#isDirty = false;
      await this.#database.write();
    } catch (error) {
      if (edition === this.#adapter.edition) this.#failed(error);
      return;
    }
    if (edition !== this.#adapter.edition) return;
    this.#isSaving = false;
    this.#wait = Math.max(coalesce, (performance.now() - startedAt) / share);
    this.#saved(end);
    if (this.#isDirty) this.#saveSoon();
  }

  /** world.json has everything before this offset of the changes file. */
  #saved(end: number): void {
    this.#isReported = false;
    this.#needsBase = false;
    try {
      this.#adapter.changes.dropBefore(end);
    } catch (error) {
      this.#onNotice(`${changesName} could not be shortened: ${messageOf(error)}`);
    }
    this.#settled = { end: this.#adapter.changes.size, needsBase: false };
  }

  #failed(error: unknown): void {
    this.#isSaving = false;
    this.#isDirty = true;
    // The changes file has all of it; what the disk refuses next is reported with its request.
    if (storageTrouble(error) !== undefined) return;
    if (!this.#isReported) this.#onNotice(`${fileName} could not be written: ${messageOf(error)}`);
    this.#isReported = true;
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Discards what is not written: the switch that replaced the world also wrote world.json. */
  replaced(): void {
    this.#stopTimer();
    this.#adapter.edition++;
    this.#isSaving = false;
    this.#isDirty = false;
    this.#waiting = [];
    this.#needsBase = false;
    this.#adapter.changes.remove();
    this.#adapter.know();
    this.unit.settle();
  }

  /** Writes world.json and deletes the changes file. A second call has no effect. */
  close(): void {
    if (this.#isClosed) return;
    this.#stopTimer();
    if (!this.#mayWrite()) {
      this.#isClosed = true;
      return;
    }
    if (this.#isDirty || this.#isSaving) {
      this.#commitAlone();
      this.#adapter.writeSync(this.world);
    }
    this.#isClosed = true;
    this.#adapter.changes.remove();
  }
}
