import { basename, join } from "node:path";
import type { Bytes } from "../../store/bytes.ts";
import type { Damage } from "../../store/damage.ts";
import { repairTail, sealedLines, textsOf } from "../../store/lines.ts";
import { type SwitchPart, writeSynced } from "../../store/switch.ts";
import type { KeyHash } from "./apply.ts";
import { compactInto, isWasteful } from "./compact.ts";
import { damagedLine, type PeopleHome } from "./home.ts";
import { type Change, readLine } from "./line.ts";
import { createLineLog, type LineLog } from "./log.ts";
import { mustBePeople, replayPeople } from "./replay.ts";
import { createSidecar, type Sidecar } from "./sidecar.ts";
import { createPeopleState, hasPeople, type PeopleState, StaleRows } from "./state.ts";

/** How a shelf is kept; sizes in bytes. */
export interface ShelfOptions {
  onNotice: (text: string) => void;
  /** Called for each line that cannot be read. */
  onDamage: (damage: Damage) => void;
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
  /** The result; where a line turns out to be damaged on the way, the rows are made anew and `act` is called again. */
  steadily<T>(act: () => T): T;
  /** Makes the rows anew when the error says that they do not fit the log. @throws every other error */
  renewed(error: unknown): undefined;
  /** Copies what is stored, without what was superseded. */
  copyInto(target: Bytes): void;
  /** Replaces all stored lines with others. @throws DataFolderError when one cannot be read */
  replacing(lines: Bytes): SwitchPart;
  /** Rewrites a log in memory that is mostly dead; a file waits for the next start. */
  keepCompact(): void;
  close(): void;
}

const saveEvery = 5_000;
/** Between two pages of the index: requests come first. */
const pause = 2;

/** @throws DataFolderError when the log cannot be opened, or is not one. */
export function openShelf(
  home: PeopleHome,
  { onNotice, onDamage, hash, compactFrom, indexFrom }: ShelfOptions,
): Shelf {
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
  /** Were the rows made anew since then? They cannot go back by themselves. */
  let isRemade = false;

  function replay(from: number): void {
    replayPeople({ state, bytes: log.bytes, name: home.name, report: onDamage }, from);
  }

  /** Makes the rows anew from the log. */
  function startOver(): void {
    epoch++;
    filling = undefined;
    state.settle();
    isRemade = true;
    state.clear();
    sidecar?.drop();
    replay(0);
  }

  function renewed(error: unknown): undefined {
    if (!(error instanceof StaleRows)) throw error;
    log.flush();
    startOver();
  }

  function steadily<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      renewed(error);
      return act();
    }
  }

  /** Reads a page of the index. Returns whether there are more. */
  function fillOn(): boolean {
    const step = filling?.next();
    if (!step?.done) return step !== undefined;
    filling = undefined;
    if (!step.value) state.clear();
    try {
      replay(sidecar?.covered ?? 0);
    } catch (error) {
      renewed(error);
    }
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
    steadily(() => compactInto(draft, ready(), log));
    log.bytes.close();
    log.use(home.take(draft));
    startOver();
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

  /** @throws Error naming the line that cannot be read or refers to an unknown person */
  function check(lines: Bytes): void {
    const copy = createPeopleState(createLineLog(lines), hash);
    for (const { offset, length, text } of textsOf(lines, 0)) {
      try {
        if (text === undefined) throw new Error("its checksum does not match");
        copy.apply(readLine(text), { offset, length });
      } catch (error) {
        throw damagedLine(home.name, lines, offset, error);
      }
    }
  }

  /** An index that cannot be written only costs time at the next start: reported once, tried again. */
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
    mustBePeople(log.bytes, home.name);
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
        isRemade = false;
        to.mark();
      }
      const offset = log.append(line);
      try {
        to.apply(change, { offset, length: log.end - offset });
      } catch (error) {
        // The line is in the log already: the rows that are made anew have it.
        renewed(error);
      }
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
      if (!isRemade) state.revert();
      log.cut(end);
      if (isRemade) startOver();
    },
    steadily,
    renewed,
    copyInto: (target) => steadily(() => compactInto(target, ready(), log)),
    replacing(lines) {
      check(lines);
      const content = log.bytes.isFile ? sealedLines(lines) : lines.read(0, lines.size);
      return {
        write: (folder) => writeSynced(join(folder, basename(home.name)), content),
        take() {
          // In memory, lines may be waiting.
          log.cut(log.bytes.size);
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
