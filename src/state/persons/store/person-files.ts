import { basename, join } from "node:path";
import { createBus } from "../../../kernel/base/bus.ts";
import { counted } from "../../../kernel/base/text.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import type { FolderGuard } from "../../../kernel/store/folder-guard.ts";
import { repairTail, sealedLines, textsOf } from "../../../kernel/store/lines.ts";
import { type SwitchPart, writeSynced } from "../../../kernel/store/switch.ts";
import type { KeyHash } from "./apply.ts";
import { compactInto, isWasteful } from "./compact.ts";
import { damagedLine, type PersonHome } from "./home.ts";
import { type Change, readLine } from "./line.ts";
import { createLineLog, type LineLog } from "./log.ts";
import { mustBePersons, replayPersons } from "./replay.ts";
import { createSidecar, type Sidecar } from "./sidecar.ts";
import { createPersonStoreState, hasPersons, type PersonStoreState, StaleRows } from "./state.ts";

/** Sizes in bytes. */
export interface PersonFilesOptions {
  onNotice: (text: string) => void;
  /** Called for each line that cannot be read. */
  onDamage: (damage: Damage) => void;
  /** Notices what other programs do to the file. */
  guard?: FolderGuard | undefined;
  hash: KeyHash;
  /** Size from which a mostly superseded log is rewritten. */
  compactFrom: number;
  /** Size from which the log has an index file: a smaller log is read as fast. */
  indexFrom: number;
}

/** The log, its rows and its index file, kept consistent. */
export interface PersonFiles {
  readonly log: LineLog;
  /** The rows, read from the index file on first use, or soon after opening. */
  readonly state: PersonStoreState;
  /** Row numbers are valid within an epoch. */
  readonly epoch: number;
  /** Calls the listener with each change; undefined if it is unknown what changed. */
  onChange(listener: (change: Change | undefined) => void): void;
  /** Adds a line with its change; on disk `rollBack` reverts it until `settle`. */
  record(line: string, change: Change): void;
  settle(): void;
  rollBack(): void;
  /** Calls `act`; if it meets a damaged line, rebuilds the rows and calls it again. */
  steadily<T>(act: () => T): T;
  /** Rebuilds the rows if the error is `StaleRows`. @throws every other error */
  renewed(error: unknown): undefined;
  copyInto(target: Bytes): void;
  /** Replaces all stored lines with others. @throws DataFolderError if one cannot be read */
  replacing(lines: Bytes): SwitchPart;
  /** Rewrites a mostly superseded log in memory; a file is rewritten at the next start. */
  keepCompact(): void;
  close(): void;
}

const personsIn = ({ projects }: PersonStoreState): number =>
  projects.entries.reduce((sum, { persons }) => sum + persons, 0);

const saveEvery = 5_000;
/** ms between two pages of the index: requests have priority. */
const pause = 2;

/** @throws DataFolderError if the log cannot be opened, or is not one */
export function openPersonFiles(
  home: PersonHome,
  { onNotice, onDamage, guard, hash, compactFrom, indexFrom }: PersonFilesOptions,
): PersonFiles {
  const log = createLineLog(home.open());
  const state = createPersonStoreState(log, hash);
  const sidecar = home.index === undefined ? undefined : createSidecar(home.index, state);
  let filling: Generator<void, boolean> | undefined;
  let epoch = 0;
  const bus = createBus<Change | undefined>((error) => onNotice(`a listener failed: ${String(error)}`));
  let nextCheck = compactFrom;
  let isOpen = true;
  let isReported = false;
  /** The end of the settled lines; undefined if all are settled. */
  let settledEnd: number | undefined;
  let wasCleared = false;
  /** True if the rows were rebuilt since then: they cannot be reverted by themselves. */
  let isRebuilt = false;

  function replay(from: number): void {
    replayPersons({ state, bytes: log.bytes, name: home.name, report: onDamage }, from);
  }

  /** Rebuilds the rows from the log. */
  function startOver(): void {
    epoch++;
    bus.publish(undefined);
    filling = undefined;
    state.settle();
    isRebuilt = true;
    state.clear();
    sidecar?.drop();
    replay(0);
  }

  function renewed(error: unknown): undefined {
    if (!(error instanceof StaleRows)) throw error;
    log.flush();
    if (log.bytes.foreignChange(false)) accept();
    startOver();
  }

  /** Continues behind what another program left. What is not settled may have another place there. */
  function accept(): void {
    const before = log.bytes.size;
    log.bytes.accept();
    if (settledEnd !== undefined) settledEnd += log.bytes.size - before;
  }

  function reread(how: "grown" | "shrunk"): void {
    const before = personsIn(state);
    accept();
    log.flush();
    startOver();
    if (how === "grown") return;
    const lost = counted(Math.max(0, before - personsIn(state)), "person");
    const detail = `another program shortened this file while the sim ran: ${lost} lost`;
    onDamage({ file: home.name, line: null, detail });
  }

  function steadily<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      renewed(error);
      return act();
    }
  }

  /** Reads a page of the index. @returns true if there are more */
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

  function ready(): PersonStoreState {
    while (filling) fillOn();
    return state;
  }

  /** Replaces the log with a new version. No line may be waiting. */
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
    if (hasPersons(state)) return;
    log.cut(0);
    startOver();
  }

  /** @throws DataFolderError for a line that cannot be read or refers to an unknown person */
  function check(lines: Bytes): void {
    const copy = createPersonStoreState(createLineLog(lines), hash);
    for (const { offset, length, text } of textsOf(lines, 0)) {
      try {
        if (text === undefined) throw new Error("its checksum does not match");
        copy.apply(readLine(text), { offset, length });
      } catch (error) {
        throw damagedLine(home.name, lines, offset, error);
      }
    }
  }

  /** A failed write of the index only slows the next start: it is reported once, and tried again. */
  function saveIndex(save: (sidecar: Sidecar, bytes: Bytes) => void): void {
    const { bytes } = log;
    if (!sidecar || bytes.size < indexFrom || bytes.size === sidecar.covered) return;
    if (guard?.isWritable === false) return;
    if (settledEnd !== undefined) return;
    try {
      ready();
      save(sidecar, bytes);
    } catch (error) {
      if (!isReported) onNotice(`${home.index} could not be written: ${String(error)}`);
      isReported = true;
    }
  }

  /** Saves once the lines that the index does not cover are an eighth of its size. */
  const saveInTime = (): void =>
    saveIndex((to, bytes) => {
      if (bytes.size - to.covered >= Math.max(indexFrom, to.size / 8)) to.save(bytes);
    });

  function start(): void {
    mustBePersons(log.bytes, home.name);
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
  guard?.watch({ name: home.name, bytes: () => (isOpen ? log.bytes : undefined), reread });
  const timer = sidecar && setInterval(saveInTime, saveEvery).unref();

  return {
    log,
    get state() {
      return filling ? ready() : state;
    },
    get epoch() {
      return epoch;
    },
    onChange: (listener) => void bus.subscribe(listener),
    record(line, change) {
      const to = ready();
      if (home.canFail && settledEnd === undefined) {
        settledEnd = log.end;
        isRebuilt = false;
        to.mark();
      }
      const offset = log.append(line);
      try {
        to.apply(change, { offset, length: log.end - offset });
      } catch (error) {
        // the line is already in the log: the rebuilt rows have it
        renewed(error);
      }
      bus.publish(change);
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
      bus.publish(undefined);
      if (!isRebuilt) state.revert();
      log.cut(end);
      if (isRebuilt) startOver();
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
          // in memory, lines may be waiting
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
