import { messageOf, StorageRefusal } from "../base/errors.ts";
import { counted } from "../base/text.ts";
import type { Bytes } from "./bytes.ts";
import type { Damage } from "./damage.ts";

interface WatchedFile {
  readonly name: string;
  readonly bytes: () => Bytes | undefined;
  /** True if its size is checked before writes; otherwise at most ten times a second. */
  readonly isHot?: boolean;
  /** Continues with what another program added to the file, or left of it. @throws the system's error */
  reread(how: "grown" | "shrunk"): void;
}

interface FolderGuardOptions {
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

/** Notices what other programs do to the files of a data folder while a sim runs. */
export class FolderGuard {
  readonly #options: FolderGuardOptions;
  readonly #files: WatchedFile[] = [];
  /** False for files whose number differs by path and descriptor, as on some file systems: these are not compared. */
  readonly #hasNumber = new WeakMap<Bytes, boolean>();
  readonly #others: (() => void)[] = [];
  /** Files that another program shortens, and the size that they had at a time. */
  readonly #shrinking = new Map<WatchedFile, { size: number; at: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #hotAt = Number.NEGATIVE_INFINITY;
  #trouble: StorageRefusal | undefined;
  readonly #timer = setInterval(() => this.look(true), lookEvery).unref();

  constructor(options: FolderGuardOptions) {
    this.#options = options;
  }

  /**
   * Checks the files and repairs what can be repaired. `isThorough`: all of them, now; otherwise nothing within two ms. Does not throw.
   * @returns true if the hot files were checked, and have only what was written
   */
  look(isThorough = false): boolean {
    const now = performance.now();
    const checksAll = isThorough || now - this.#lookedAt >= thoroughEvery;
    if (!checksAll && (this.#trouble || now - this.#hotAt < hotEvery)) return false;
    this.#hotAt = now;
    try {
      if (checksAll) this.#lookedAt = now;
      this.#options.mustHold();
      for (const it of this.#files) if (checksAll || it.isHot) this.#check(it, checksAll, now);
      if (checksAll) for (const it of this.#others) it();
      this.#trouble = undefined;
      return true;
    } catch (error) {
      this.#trouble = refusalOf(error);
      return false;
    }
  }

  mustBeWritable(): void {
    if (this.#trouble) throw this.#trouble;
  }

  get isWritable(): boolean {
    return this.#trouble === undefined;
  }

  watch(file: WatchedFile): void {
    this.#files.push(file);
    const bytes = file.bytes();
    if (bytes) this.#comparesNumbers(bytes);
  }

  /** Adds a check of something else. It may throw StorageRefusal, or the system's error. */
  also(check: () => void): void {
    this.#others.push(check);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #comparesNumbers(bytes: Bytes): boolean {
    const known = this.#hasNumber.get(bytes) ?? bytes.foreignChange(true)?.how !== "replaced";
    this.#hasNumber.set(bytes, known);
    return known;
  }

  #check(file: WatchedFile, checksPath: boolean, now: number): void {
    const report = (detail: string) => this.#options.report({ file: file.name, line: null, detail });
    let again = 0;
    for (let left = mostRepairs; left > 0; left--) {
      const bytes = file.bytes();
      const found = bytes?.foreignChange(checksPath && this.#comparesNumbers(bytes));
      if (!bytes || !found) {
        this.#shrinking.delete(file);
        return;
      }
      const { how, size } = found;
      if (how === "grown") {
        const added = counted(size - bytes.length, "byte");
        report(
          `another program appended ${added} behind byte ${bytes.length} while the sim ran; complete lines of phx-sim in them were read, the rest is skipped`,
        );
        file.reread("grown");
      } else if (how === "shrunk") {
        this.#mustHaveSettled(file, size, now);
        file.reread("shrunk");
      } else {
        const aside = bytes.restore(true);
        // once: another program was as fast
        if (bytes.foreignChange(true)?.how === "replaced" && ++again === 2) this.#hasNumber.set(bytes, false);
        const what = aside === undefined ? "deleted or moved" : "replaced";
        const other = aside === undefined ? "" : `, and the other file is ${aside}`;
        report(
          `another program ${what} this file while the sim ran; it was written again with its ${counted(size, "byte")}${other}`,
        );
      }
    }
  }

  /** An editor empties a file before it writes it: what is left is known once the size stays the same. */
  #mustHaveSettled(file: WatchedFile, size: number, now: number): void {
    const before = this.#shrinking.get(file);
    if (before?.size === size && now - before.at >= thoroughEvery) return;
    if (before?.size !== size) this.#shrinking.set(file, { size, at: now });
    throw new StorageRefusal(`another program is changing ${file.name}`);
  }
}

function refusalOf(error: unknown): StorageRefusal {
  if (error instanceof StorageRefusal) return error;
  const message = `files that another program changed cannot be repaired: ${messageOf(error)}`;
  return new StorageRefusal(message, { cause: error });
}
