import { basename, join } from "node:path";
import type { Bytes } from "../bytes.ts";
import { DataFolderError } from "../data-folder.ts";
import { linesOf, repairTail } from "../lines.ts";
import { type SwitchPart, writeSynced } from "../switch.ts";
import type { KeyHash } from "./apply.ts";
import { compactInto, isWasteful } from "./compact.ts";
import { damagedLine, type PeopleHome } from "./home.ts";
import { type Change, readLine } from "./line.ts";
import { createLineLog, type LineLog } from "./log.ts";
import { createSidecar, type Sidecar } from "./sidecar.ts";
import { createPeopleState, hasPeople, type PeopleState } from "./state.ts";

/** How a shelf is kept; sizes in bytes. */
export interface ShelfOptions {
  onNotice: (text: string) => void;
  hash: KeyHash;
  /** From here on a mostly dead log is rewritten. */
  compactFrom: number;
  /** From here on the log has an index file: a smaller log is read as fast. */
  indexFrom: number;
}

/** The log, its rows and its index file, kept in step. */
export interface Shelf {
  readonly log: LineLog;
  /** The rows, read from the index file at the first look at them, or soon after opening. */
  readonly state: PeopleState;
  /** Row numbers keep their meaning within an epoch. */
  readonly epoch: number;
  /** Takes a line and what it means; on a disk `rollBack` takes it back until `settle`. */
  record(line: string, change: Change): void;
  settle(): void;
  rollBack(): void;
  /** Copies what is stored, without what was superseded. */
  copyInto(target: Bytes): void;
  /** Puts other lines in the place of all that is stored. @throws DataFolderError when one cannot be read */
  replacing(lines: Bytes): SwitchPart;
  /** Rewrites a log in memory that is mostly dead; a file waits for the next start. */
  keepCompact(): void;
  close(): void;
}

const saveEvery = 5_000;
/** Between two pages of the index: requests come first. */
const pause = 2;

/** @throws DataFolderError when the log cannot be opened or a line of it cannot be read. */
export function openShelf(home: PeopleHome, { onNotice, hash, compactFrom, indexFrom }: ShelfOptions): Shelf {
  const log = createLineLog(home.open());
  const state = createPeopleState(log, hash);
  const sidecar = home.index === undefined ? undefined : createSidecar(home.index, state);
  /** What is still to be read of the index file. */
  let filling: Generator<void, boolean> | undefined;
  let epoch = 0;
  let nextCheck = compactFrom;
  let isOpen = true;
  let isTold = false;
  /** Where the lines end that are not to be taken back any more; undefined when there are no others. */
  let settledEnd: number | undefined;
  let wasCleared = false;

  function replay(from: number): void {
    for (const { offset, text } of linesOf(log.bytes, from)) {
      try {
        state.apply(readLine(text), { offset, length: Buffer.byteLength(text) + 1 });
      } catch (error) {
        throw error instanceof DataFolderError ? error : damagedLine(home.name, log.bytes, offset, error);
      }
    }
  }

  /** Reads a page of the index. Returns whether there are more. */
  function fillOn(): boolean {
    const step = filling?.next();
    if (!step?.done) return step !== undefined;
    filling = undefined;
    if (!step.value) state.clear();
    replay(sidecar?.covered ?? 0);
    return false;
  }

  function fillInTime(): void {
    if (fillOn()) setTimeout(fillInTime, pause).unref();
  }

  function ready(): PeopleState {
    while (filling) fillOn();
    return state;
  }

  /** Goes on with a new edition of the log. Nothing may be waiting. */
  function compact(): void {
    const draft = home.draft();
    compactInto(draft, ready(), log);
    log.bytes.close();
    log.use(home.take(draft));
    startOver();
  }

  /** The log has other lines than before. */
  function startOver(): void {
    epoch++;
    filling = undefined;
    state.clear();
    sidecar?.drop();
    replay(0);
  }

  function settle(): void {
    if (settledEnd !== undefined) state.settle();
    settledEnd = undefined;
    if (!wasCleared) return;
    wasCleared = false;
    if (hasPeople(state)) return;
    log.cut(0);
    startOver();
  }

  /** @throws Error saying which line cannot be read or refers to nobody */
  function check(lines: Bytes): void {
    const copy = createPeopleState(createLineLog(lines), hash);
    for (const { offset, text } of linesOf(lines, 0)) {
      try {
        copy.apply(readLine(text), { offset, length: Buffer.byteLength(text) + 1 });
      } catch (error) {
        throw damagedLine(home.name, lines, offset, error);
      }
    }
  }

  /** An index that cannot be written costs time at the next start and nothing else: told once, tried again. */
  function saveIndex(save: (sidecar: Sidecar, bytes: Bytes) => void): void {
    const { bytes } = log;
    if (!sidecar || bytes.size < indexFrom || bytes.size === sidecar.covered) return;
    if (settledEnd !== undefined) return;
    try {
      ready();
      save(sidecar, bytes);
    } catch (error) {
      if (!isTold) onNotice(`${home.index} could not be written: ${String(error)}`);
      isTold = true;
    }
  }

  /** Rewriting is worth it once the lines behind the index are an eighth of what has to be written. */
  const saveInTime = (): void =>
    saveIndex((to, bytes) => {
      if (bytes.size - to.covered >= Math.max(indexFrom, to.size / 8)) to.save(bytes);
    });

  function start(): void {
    repairTail(log.bytes, home.name, onNotice);
    sidecar?.open(log.bytes);
    filling = sidecar?.fill();
    if (sidecar?.covered === 0 || sidecar?.covered !== log.bytes.size) ready();
    if (log.bytes.size > compactFrom && isWasteful(state, log.bytes.size)) {
      onNotice(`${home.name}: most of it is superseded; it is rewritten`);
      compact();
    }
    if (filling) setTimeout(fillInTime, pause).unref();
  }

  try {
    start();
  } catch (error) {
    log.bytes.close();
    throw error;
  }
  const timer = sidecar && setInterval(saveInTime, saveEvery).unref();

  return {
    log,
    get state() {
      return filling ? ready() : state;
    },
    get epoch() {
      return epoch;
    },
    record(line, change) {
      const to = ready();
      if (home.canFail && settledEnd === undefined) {
        settledEnd = log.end;
        to.mark();
      }
      const offset = log.append(line);
      to.apply(change, { offset, length: log.end - offset });
      if (change.kind !== "clear") return;
      wasCleared = true;
      epoch++;
    },
    settle,
    rollBack() {
      if (settledEnd === undefined) return;
      const end = settledEnd;
      settledEnd = undefined;
      wasCleared = false;
      epoch++;
      state.revert();
      log.cut(end);
    },
    copyInto: (target) => compactInto(target, ready(), log),
    replacing(lines) {
      check(lines);
      const content = lines.read(0, lines.size);
      return {
        write: (folder) => writeSynced(join(folder, basename(home.name)), content),
        take() {
          log.bytes.renew(content, 0);
          startOver();
        },
      };
    },
    keepCompact() {
      if (sidecar || log.bytes.size < nextCheck) return;
      if (isWasteful(state, log.bytes.size)) compact();
      nextCheck = Math.max(compactFrom, log.bytes.size * 2);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      try {
        log.flush();
        settle();
        saveIndex((to, bytes) => to.saveNow(bytes));
      } finally {
        filling = undefined;
        log.bytes.close();
      }
    },
  };
}
