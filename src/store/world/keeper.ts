import { LowSync } from "lowdb";
import type { World } from "../../model/world.ts";
import { type WorldDraft, writeDraft } from "../world-file.ts";
import { changeLine, openChanges, replaceLine } from "./changes-file.ts";
import type { Step, WorldDocument } from "./document.ts";

/** Brings changes to the disk: at once as lines of the changes file, in time as a new world.json. */
export interface Keeper {
  /** Takes a change that was made. */
  record(steps: readonly Step[]): void;
  /** Another world took the place of the old one. */
  replaced(): void;
  /** Writes what was recorded, with one call. @throws the system's error; what was recorded then waits on. */
  flush(): void;
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
}

/** Changes within this time go into world.json together, ms. */
const coalesce = 50;
/** Writing world.json may take this part of the time. */
const share = 1 / 20;

/** In memory there is nothing to keep. */
export const noKeeper: Keeper = { record() {}, replaced() {}, flush() {}, close() {} };

export function createKeeper(options: KeeperOptions): Keeper {
  const { world, file, onNotice } = options;
  const changes = openChanges(options.changesFile);
  /** Lines that are not on disk yet. */
  let waiting: string[] = [];
  // A new folder's world can be made again from its seed: it is written before its first change, not before an answer.
  let needsBase = !options.hasBase;
  let isDirty = !options.isSaved;
  let isSaving = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let wait = coalesce;
  let draft: WorldDraft | undefined;

  // The parts of the world know their bytes: what was not read is copied, not parsed.
  const write = () => {
    draft = writeDraft(file, world.sections());
  };
  const database = new LowSync<World>({ read: () => null, write }, world.view);

  function drafted(): WorldDraft {
    database.write();
    if (!draft) throw new Error("lowdb writes when it is told to");
    return draft;
  }

  function flush(): void {
    if (waiting.length === 0) return;
    changes.append(Buffer.from(needsBase ? replaceLine(world.view) : waiting.join("")));
    waiting = [];
    needsBase = false;
  }

  function saveInTime(): void {
    timer = undefined;
    if (isSaving || isClosed) return;
    const started = performance.now();
    try {
      flush();
      const covered = changes.size;
      const next = drafted();
      isSaving = true;
      isDirty = false;
      next.publishInTime(
        () => !isClosed,
        (error) => {
          isSaving = false;
          wait = Math.max(coalesce, (performance.now() - started) / share);
          if (error) return failed(error);
          settle(covered);
        },
      );
    } catch (error) {
      failed(error);
    }
  }

  /** world.json has everything before the offset of the changes file. */
  function settle(covered: number): void {
    if (waiting.length === 0) needsBase = false;
    try {
      changes.dropBefore(covered);
    } catch (error) {
      onNotice(`${options.changesFile} could not be shortened: ${messageOf(error)}`);
    }
    if (isDirty) saveSoon();
  }

  function failed(error: unknown): void {
    isDirty = true;
    onNotice(`world.json could not be written: ${messageOf(error)}`);
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
    record(steps) {
      const line = changeLine(steps, world.sequences.grown, world.text);
      if (line !== "") changed(line);
    },
    replaced() {
      needsBase = true;
      waiting = [];
      changed("");
      flush();
    },
    flush,
    close() {
      if (isClosed) return;
      clearTimeout(timer);
      timer = undefined;
      if (isDirty || isSaving) {
        flush();
        drafted().publish();
      }
      isClosed = true;
      changes.remove();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
