import { LowSync } from "lowdb";
import { storageTrouble } from "../../kernel/storage-trouble.ts";
import type { World } from "../../model/world.ts";
import type { Unit } from "../unit.ts";
import { type WorldDraft, writeDraft } from "../world-file.ts";
import { changeLine, openChanges, replaceLine } from "./changes-file.ts";
import type { Step, WorldDocument } from "./document.ts";

/** Brings changes to the disk: at once as lines of the changes file, in time as a new world.json. */
export interface Keeper {
  /** Takes a change that was made, and what takes it back. */
  record(steps: readonly Step[], takeBack: () => void): void;
  /** Another world took the place of the old one, in world.json, too. */
  replaced(): void;
  /** What was recorded; `write` uses one call. */
  readonly unit: Unit;
  /** Writes world.json and lets go of the changes file. Harmless when done twice. */
  close(): void;
}

interface KeeperOptions {
  world: WorldDocument;
  /** Path of world.json. */
  file: string;
  /** Path of the changes file. */
  changesFile: string;
  /** Does world.json, with the changes file, hold the world as it is? */
  isSaved: boolean;
  /** Is there something on disk that a change can be added to? */
  hasBase: boolean;
  onNotice: (text: string) => void;
  /** Writes what was recorded, with all that belongs to it. Default: what was recorded. */
  commit?: () => void;
}

/** Changes within this time go into world.json together, ms. */
const coalesce = 50;
/** Writing world.json may take this part of the time. */
const share = 1 / 20;

/** In memory there is nothing to keep. */
export const noKeeper: Keeper = {
  record() {},
  replaced() {},
  unit: { write() {}, settle() {}, rollBack() {} },
  close() {},
};

export function createKeeper(options: KeeperOptions): Keeper {
  const { world, file, onNotice } = options;
  const changes = openChanges(options.changesFile);
  /** Lines that are not on disk yet. */
  let waiting: string[] = [];
  /** To be called in reverse. */
  let takeBacks: (() => void)[] = [];
  // A new folder's world can be made again from its seed: it is written before its first change, not before an answer.
  let needsBase = !options.hasBase;
  let isDirty = !options.isSaved;
  let isSaving = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let wait = coalesce;
  let draft: WorldDraft | undefined;
  /** What is in the changes file to stay. */
  let settled = { end: changes.size, needsBase };
  /** Counts worlds: a draft of an older one is not put in place. */
  let edition = 0;
  let isTold = false;

  // The parts of the world know their bytes: what was not read is copied, not parsed.
  const writeWorld = () => {
    draft = writeDraft(file, world.sections());
  };
  const database = new LowSync<World>({ read: () => null, write: writeWorld }, world.view);

  function drafted(): WorldDraft {
    database.write();
    if (!draft) throw new Error("lowdb writes when it is told to");
    return draft;
  }

  function write(): void {
    if (waiting.length === 0) return;
    changes.append(Buffer.from(needsBase ? replaceLine(world.view) : waiting.join("")));
    waiting = [];
    needsBase = false;
  }

  function settle(): void {
    takeBacks = [];
    settled = { end: changes.size, needsBase };
  }

  function rollBack(): void {
    for (const takeBack of takeBacks.reverse()) takeBack();
    takeBacks = [];
    waiting = [];
    needsBase = settled.needsBase;
    // Without lines world.json has everything again: a full disk is not to be tried for nothing.
    if (settled.end === 0 && !needsBase && !isSaving) isDirty = false;
    changes.cut(settled.end);
  }

  function writeAlone(): void {
    write();
    settle();
  }
  const commit = options.commit ?? writeAlone;

  function saveInTime(): void {
    timer = undefined;
    if (isSaving || isClosed || !isDirty) return;
    const started = performance.now();
    const mine = edition;
    try {
      commit();
      const covered = changes.size;
      const next = drafted();
      isSaving = true;
      isDirty = false;
      next.publishInTime(
        () => !isClosed && mine === edition,
        (error) => {
          isSaving = false;
          wait = Math.max(coalesce, (performance.now() - started) / share);
          if (error) return failed(error);
          published(covered);
        },
      );
    } catch (error) {
      failed(error);
    }
  }

  /** world.json has everything before the offset of the changes file. */
  function published(covered: number): void {
    isTold = false;
    if (waiting.length === 0) needsBase = false;
    try {
      changes.dropBefore(covered);
    } catch (error) {
      onNotice(`${options.changesFile} could not be shortened: ${messageOf(error)}`);
    }
    settled = { end: changes.size, needsBase };
    if (isDirty) saveSoon();
  }

  function failed(error: unknown): void {
    isDirty = true;
    // The changes file has it all; what the disk refuses next is reported with its request.
    if (storageTrouble(error) !== undefined) return;
    if (!isTold) onNotice(`world.json could not be written: ${messageOf(error)}`);
    isTold = true;
  }

  function saveSoon(): void {
    if (!isClosed && !isSaving) timer ??= setTimeout(saveInTime, wait).unref();
  }

  function changed(line: string): void {
    waiting.push(line);
    isDirty = true;
    saveSoon();
  }

  if (isDirty) saveSoon();
  return {
    record(steps, takeBack) {
      const line = changeLine(steps, world.sequences.grown, world.text);
      if (line === "") return;
      takeBacks.push(takeBack);
      changed(line);
    },
    replaced() {
      edition++;
      clearTimeout(timer);
      timer = undefined;
      isSaving = false;
      isDirty = false;
      waiting = [];
      needsBase = false;
      changes.remove();
      settle();
    },
    unit: { write, settle, rollBack },
    close() {
      if (isClosed) return;
      clearTimeout(timer);
      timer = undefined;
      if (isDirty || isSaving) {
        writeAlone();
        drafted().publish();
      }
      isClosed = true;
      changes.remove();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
