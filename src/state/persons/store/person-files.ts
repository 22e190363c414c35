import { basename, join } from "node:path";
import { createBus } from "../../../kernel/base/bus.ts";
import { messageOf } from "../../../kernel/base/errors.ts";
import { counted } from "../../../kernel/base/text.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import type { FolderGuard } from "../../../kernel/store/folder-guard.ts";
import { lineNumber, repairTail, sealedLines, textsOf } from "../../../kernel/store/lines.ts";
import { type SwitchPart, writeSynced } from "../../../kernel/store/switch.ts";
import type { PersonHome } from "./home.ts";
import { type Change, readLine } from "./line.ts";
import { LineLog } from "./log.ts";
import { mustBePersons, replayPersons } from "./replay.ts";
import { Sidecar } from "./sidecar.ts";
import { compactInto, hasPersons, isWasteful, type KeyHash, PersonStoreState, personsIn, StaleRows } from "./state.ts";

export interface PersonFilesOptions {
  onNotice: (text: string) => void;
  onDamage: (damage: Damage) => void;
  guard?: FolderGuard | undefined;
  hash: KeyHash;
  /** Size from which a mostly superseded log is rewritten. */
  compactFrom: number;
  /** Size from which the log has an index file: a smaller log is read as fast. */
  indexFrom: number;
}

const saveEvery = 5_000;
/** ms between two pages of the index: requests have priority. */
const pause = 2;

/** The log, its rows and its index file, kept consistent. */
export class PersonFiles {
  readonly #home: PersonHome;
  readonly #options: PersonFilesOptions;
  readonly log: LineLog;
  readonly #state: PersonStoreState;
  readonly #sidecar: Sidecar | undefined;
  #filling: Generator<void, boolean> | undefined;
  #epoch = 0;
  readonly #bus = createBus<Change | undefined>((error) =>
    this.#options.onNotice(`a listener failed: ${String(error)}`),
  );
  #nextCheck: number;
  #isOpen = true;
  #isReported = false;
  /** The end of the settled lines; undefined if all are settled. */
  #settledEnd: number | undefined;
  #wasCleared = false;
  /** True if the rows were rebuilt since then: they cannot be reverted by themselves. */
  #isRebuilt = false;
  readonly #timer: NodeJS.Timeout | undefined;

  /** @throws DataFolderError if the log cannot be opened, or is not one */
  constructor(home: PersonHome, options: PersonFilesOptions) {
    this.#home = home;
    this.#options = options;
    this.#nextCheck = options.compactFrom;
    this.log = new LineLog(home.open());
    this.#state = new PersonStoreState(this.log, options.hash);
    this.#sidecar = home.index === undefined ? undefined : new Sidecar(home.index, this.#state);
    try {
      this.#start();
    } catch (error) {
      this.log.bytes.close();
      throw error;
    }
    options.guard?.watch({
      name: home.name,
      bytes: () => (this.#isOpen ? this.log.bytes : undefined),
      reread: (how) => this.#reread(how),
    });
    if (this.#sidecar) this.#timer = setInterval(() => this.#saveInTime(), saveEvery).unref();
  }

  #start(): void {
    const { log } = this;
    const { name } = this.#home;
    const { onNotice, compactFrom } = this.#options;
    const sidecar = this.#sidecar;
    mustBePersons(log.bytes, name);
    repairTail(log.bytes, name, onNotice);
    sidecar?.open(log.bytes);
    this.#filling = sidecar?.fill();
    if (sidecar?.covered === 0 || sidecar?.covered !== log.bytes.size) this.#ready();
    if (log.bytes.size > compactFrom && isWasteful(this.#state, log.bytes.size)) {
      onNotice(`${name}: most of it is superseded; it is rewritten`);
      this.#compact();
    }
    if (this.#filling) setTimeout(() => this.#fillInTime(), pause).unref();
  }

  /** The rows, read from the index file on first use, or soon after opening. */
  get state(): PersonStoreState {
    return this.#filling ? this.#ready() : this.#state;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Calls the listener with each change; undefined if it is unknown what changed. */
  onChange(listener: (change: Change | undefined) => void): void {
    this.#bus.subscribe(listener);
  }

  #replay(from: number): void {
    const { bytes } = this.log;
    replayPersons({ state: this.#state, bytes, name: this.#home.name, report: this.#options.onDamage }, from);
  }

  #startOver(): void {
    this.#epoch++;
    this.#bus.publish(undefined);
    this.#filling = undefined;
    this.#state.settle();
    this.#isRebuilt = true;
    this.#state.clear();
    this.#sidecar?.drop();
    this.#replay(0);
  }

  /** Rebuilds the rows if the error is `StaleRows`. @throws every other error */
  renewed(error: unknown): undefined {
    if (!(error instanceof StaleRows)) throw error;
    this.log.flush();
    if (this.log.bytes.foreignChange(false)) this.#accept();
    this.#startOver();
  }

  /** Continues behind what another program left. What is not settled may have another place there. */
  #accept(): void {
    const { bytes } = this.log;
    const before = bytes.size;
    bytes.accept();
    if (this.#settledEnd !== undefined) this.#settledEnd += bytes.size - before;
  }

  #reread(how: "grown" | "shrunk"): void {
    const before = personsIn(this.#state);
    this.#accept();
    this.log.flush();
    this.#startOver();
    if (how === "grown") return;
    const lost = counted(Math.max(0, before - personsIn(this.#state)), "person");
    const detail = `another program shortened this file while the sim ran: ${lost} lost`;
    this.#options.onDamage({ file: this.#home.name, line: null, detail });
  }

  steadily<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.renewed(error);
      return act();
    }
  }

  /** Reads a page of the index. @returns true if there are more */
  #fillOn(): boolean {
    const step = this.#filling?.next();
    if (!step?.done) return step !== undefined;
    this.#filling = undefined;
    if (!step.value) this.#state.clear();
    try {
      this.#replay(this.#sidecar?.covered ?? 0);
    } catch (error) {
      this.renewed(error);
    }
    return false;
  }

  #fillInTime(): void {
    if (this.#fillOn()) setTimeout(() => this.#fillInTime(), pause).unref();
  }

  #ready(): PersonStoreState {
    while (this.#filling) this.#fillOn();
    return this.#state;
  }

  #compact(): void {
    const draft = this.#home.draft();
    this.copyInto(draft);
    this.log.bytes.close();
    this.log.use(this.#home.take(draft));
    this.#startOver();
  }

  copyInto(target: Bytes): void {
    this.steadily(() => compactInto(target, this.#ready(), this.log));
  }

  /** Adds a line with its change; on disk `rollBack` reverts it until `settle`. */
  record(line: string, change: Change): void {
    const { log } = this;
    const state = this.#ready();
    if (this.#home.canFail && this.#settledEnd === undefined) {
      this.#settledEnd = log.end;
      this.#isRebuilt = false;
      state.mark();
    }
    const offset = log.append(line);
    try {
      state.apply(change, { offset, length: log.end - offset });
    } catch (error) {
      // the line is already in the log: the rebuilt rows have it
      this.renewed(error);
    }
    this.#bus.publish(change);
    if (change.kind !== "clear") return;
    this.#wasCleared = true;
    this.#epoch++;
  }

  settle(): void {
    if (this.#settledEnd !== undefined) this.#state.settle();
    this.#settledEnd = undefined;
    if (!this.#wasCleared) return;
    this.#wasCleared = false;
    if (hasPersons(this.#state)) return;
    this.log.cut(0);
    this.#startOver();
  }

  rollBack(): void {
    if (this.#settledEnd === undefined) return;
    const end = this.#settledEnd;
    this.#settledEnd = undefined;
    this.#wasCleared = false;
    this.#epoch++;
    this.#bus.publish(undefined);
    if (!this.#isRebuilt) this.#state.revert();
    this.log.cut(end);
    if (this.#isRebuilt) this.#startOver();
  }

  /** Replaces all stored lines with others. @throws DataFolderError if one cannot be read */
  replacing(lines: Bytes): SwitchPart {
    this.#check(lines);
    const { log } = this;
    const content = log.bytes.isFile ? sealedLines(lines) : lines.read(0, lines.size);
    return {
      write: (folder) => writeSynced(join(folder, basename(this.#home.name)), content),
      take: () => {
        // in memory, lines may be waiting
        log.cut(log.bytes.size);
        log.bytes.renew(content, 0);
        this.#startOver();
      },
    };
  }

  /** @throws DataFolderError for a line that cannot be read or refers to an unknown person */
  #check(lines: Bytes): void {
    const copy = new PersonStoreState(new LineLog(lines), this.#options.hash);
    for (const { offset, length, text } of textsOf(lines, 0)) {
      try {
        if (text === undefined) throw new Error("its checksum does not match");
        copy.apply(readLine(text), { offset, length });
      } catch (error) {
        throw damagedLine(this.#home.name, lines, offset, error);
      }
    }
  }

  /** Rewrites a mostly superseded log in memory; a file is rewritten at the next start. */
  keepCompact(): void {
    const { size } = this.log.bytes;
    if (this.#sidecar || size < this.#nextCheck) return;
    if (isWasteful(this.#state, size)) this.#compact();
    this.#nextCheck = Math.max(this.#options.compactFrom, this.log.bytes.size * 2);
  }

  /** A failed write of the index only slows the next start: it is reported once, and tried again. */
  #saveIndex(save: (sidecar: Sidecar, bytes: Bytes) => void): void {
    const { bytes } = this.log;
    const sidecar = this.#sidecar;
    const { guard, indexFrom, onNotice } = this.#options;
    if (!sidecar || bytes.size < indexFrom || bytes.size === sidecar.covered) return;
    if (guard?.isWritable === false || this.#settledEnd !== undefined) return;
    try {
      this.#ready();
      save(sidecar, bytes);
    } catch (error) {
      if (!this.#isReported) onNotice(`${this.#home.index} could not be written: ${String(error)}`);
      this.#isReported = true;
    }
  }

  /** Saves once the lines that the index does not cover are an eighth of its size. */
  #saveInTime(): void {
    this.#saveIndex((to, bytes) => {
      if (bytes.size - to.covered >= Math.max(this.#options.indexFrom, to.size / 8)) to.save(bytes);
    });
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#timer);
    try {
      this.log.flush();
      this.settle();
      this.#saveIndex((to, bytes) => to.saveNow(bytes));
    } finally {
      this.#filling = undefined;
      this.log.bytes.close();
    }
  }
}

function damagedLine(name: string, bytes: Bytes, offset: number, cause: unknown): DataFolderError {
  const line = lineNumber(bytes, offset);
  return new DataFolderError(`${name}:${line} cannot be read: ${messageOf(cause)}`, {
    file: name,
    line,
    hint: "correct or delete that line, or move the file away to start without stored people",
    cause,
  });
}
