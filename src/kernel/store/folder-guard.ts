import { StorageRefusal } from "../base/errors.ts";
import { counted } from "../base/text.ts";
import type { Bytes } from "./bytes.ts";
import type { Damage } from "./damage.ts";

/** A file that a sim has open, and that other programs may change. */
interface WatchedFile {
  readonly name: string;
  /** Undefined while it is not open. */
  readonly bytes: () => Bytes | undefined;
  /** True if its size is checked before writes; otherwise at most ten times a second. */
  readonly isHot?: boolean;
  /** Continues with what another program added to the file, or left of it. @throws the system's error */
  reread(how: "grown" | "shrunk"): void;
}

export interface FolderGuardOptions {
  /** Called for each change by another program. */
  report: (damage: Damage) => void;
  /** Checks that this process holds the folder, before all else. @throws StorageRefusal, the system's error */
  mustHold: () => void;
}

/** Time between two checks of an idle sim, and the least time between two thorough ones, ms. */
const lookEvery = 250;
const thoroughEvery = 100;
/** Least time between two checks of sizes, ms: a check takes a tenth of a capture. */
const hotEvery = 2;
/** How often a file is checked again after a repair, which may find something else. */
const mostRepairs = 4;

export function createFolderGuard({ report, mustHold }: FolderGuardOptions) {
  const files: WatchedFile[] = [];
  /** False for files whose number differs by path and descriptor, as on some file systems: these are not compared. */
  const hasNumber = new WeakMap<Bytes, boolean>();
  const others: (() => void)[] = [];
  /** Files that another program shortens, and the size that they had at a time. */
  const shrinking = new Map<WatchedFile, { size: number; at: number }>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let hotAt = Number.NEGATIVE_INFINITY;
  let trouble: StorageRefusal | undefined;
  const timer = setInterval(() => look(true), lookEvery).unref();

  function look(isThorough = false): boolean {
    const now = performance.now();
    const checksAll = isThorough || now - lookedAt >= thoroughEvery;
    if (!checksAll && (trouble || now - hotAt < hotEvery)) return false;
    hotAt = now;
    try {
      if (checksAll) lookedAt = now;
      mustHold();
      for (const it of files) if (checksAll || it.isHot) check(it, checksAll, now);
      if (checksAll) for (const it of others) it();
      trouble = undefined;
      return true;
    } catch (error) {
      trouble = refusalOf(error);
      return false;
    }
  }

  function comparesNumbers(bytes: Bytes): boolean {
    const known = hasNumber.get(bytes) ?? bytes.foreignChange(true)?.how !== "replaced";
    hasNumber.set(bytes, known);
    return known;
  }

  function check(file: WatchedFile, checksPath: boolean, now: number): void {
    const { name } = file;
    let again = 0;
    for (let left = mostRepairs; left > 0; left--) {
      const bytes = file.bytes();
      const found = bytes?.foreignChange(checksPath && comparesNumbers(bytes));
      if (!bytes || !found) {
        shrinking.delete(file);
        return;
      }
      const { how, size } = found;
      if (how === "grown") {
        const added = size - bytes.length;
        report({
          file: name,
          line: null,
          detail: `another program appended ${counted(added, "byte")} behind byte ${bytes.length} while the sim ran; complete lines of phx-sim in them were read, the rest is skipped`,
        });
        file.reread("grown");
      } else if (how === "shrunk") {
        mustHaveSettled(file, size, now);
        file.reread("shrunk");
      } else {
        const aside = bytes.restore(true);
        // once: another program was as fast
        if (bytes.foreignChange(true)?.how === "replaced" && ++again === 2) hasNumber.set(bytes, false);
        const held = `its ${counted(size, "byte")}`;
        const detail =
          aside === undefined
            ? `another program deleted or moved this file while the sim ran; it was written again with ${held}`
            : `another program replaced this file while the sim ran; it was written again with ${held}, and the other file is ${aside}`;
        report({ file: name, line: null, detail });
      }
    }
  }

  /** An editor empties a file before it writes it: what is left is known once the size stays the same. */
  function mustHaveSettled(file: WatchedFile, size: number, now: number): void {
    const before = shrinking.get(file);
    if (before?.size === size && now - before.at >= thoroughEvery) return;
    if (before?.size !== size) shrinking.set(file, { size, at: now });
    throw new StorageRefusal(`another program is changing ${file.name}`);
  }

  return {
    /**
     * Checks the files and repairs what can be repaired. `isThorough`: all of them, now; otherwise nothing within two ms. Does not throw.
     * @returns true if the hot files were checked, and have only what was written
     */
    look,
    /** @throws StorageRefusal while nothing may be written */
    mustBeWritable() {
      if (trouble) throw trouble;
    },
    get isWritable() {
      return trouble === undefined;
    },
    watch(file: WatchedFile) {
      files.push(file);
      const bytes = file.bytes();
      if (bytes) comparesNumbers(bytes);
    },
    /** Adds a check of something else. It may throw StorageRefusal, or the system's error. */
    also: (check: () => void) => void others.push(check),
    /** Ends the regular checks. */
    close: () => clearInterval(timer),
  };
}

/** Notices what other programs do to the files of a data folder while a sim runs. */
export type FolderGuard = ReturnType<typeof createFolderGuard>;

function refusalOf(error: unknown): StorageRefusal {
  if (error instanceof StorageRefusal) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageRefusal(`files that another program changed cannot be repaired: ${reason}`, { cause: error });
}
