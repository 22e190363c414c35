import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { FSWatcher } from "chokidar";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "../../kernel/base/real-time.ts";
import type { FaultRules } from "../faults/rules.ts";
import { type ApplyParts, applyEdit } from "./apply-scenario.ts";
import { type LoadedScenario, readScenario } from "./load.ts";
import { problemNotice, type ScenarioProblem, warningNotice } from "./problems.ts";
import type { OnChange } from "./reload.ts";
import type { Scenario } from "./scenario.ts";
import type { ScenarioSource } from "./source.ts";

export interface FollowOptions extends ApplyParts {
  source: ScenarioSource;
  mode: Exclude<OnChange, "ignore">;
  faults: FaultRules;
  /** Called after an edit is applied. @param projects The new ones */
  onApplied(projects: readonly number[]): void;
}

/** Applies edits of the scenario's files until it is closed. Without files there is nothing to follow. */
export async function followScenario(options: FollowOptions): Promise<{ close(): Promise<void> }> {
  const { source, scenario, notice } = options;
  const { files } = await readScenario(source);
  if (files.length === 0) return { close: async () => {} };
  return watchScenario({
    source,
    first: { scenario: scenario.current, problems: [], files },
    onScenario(next, warnings) {
      scenario.problems = [];
      scenario.warnings = warnings;
      const added = applyEdit(options, next, options.mode);
      if (warnings.length > 0) notice(warningNotice(warnings));
      options.onApplied(added);
    },
    onInvalid({ problems }) {
      scenario.problems = problems;
      notice(problemNotice("the edited scenario is not valid, the last good one stays:", problems));
    },
    onError: (error) => notice(`the scenario's files cannot be followed: ${String(error)}`),
  });
}

export interface ScenarioWatch {
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

interface WatchOptions {
  source: ScenarioSource;
  first: Omit<LoadedScenario, "warnings">;
  /** Called with each new valid scenario, and awaited before the next reading. */
  onScenario(scenario: Scenario, warnings: readonly ScenarioProblem[]): void | Promise<void>;
  /** Called for files that are not a valid scenario; the last valid one stays. */
  onInvalid(loaded: LoadedScenario): void;
  onError(error: unknown): void;
}

/** Editors write a file in several steps: changes within this time belong to the same edit, ms. */
const debounce = 80;

/** From one look at the folders to the next, ms. */
const lookEvery = 500;

/** Which folder a path is; a folder that was removed and made again is another one. */
function identityOf(folder: string): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return "";
  }
}

/**
 * Reads a scenario again whenever one of its files is changed, replaced, removed or created, including files that it
 * extends later. The folders are watched, not the files: many editors replace a file by renaming a new one.
 */
export async function watchScenario(options: WatchOptions): Promise<ScenarioWatch> {
  const { watch } = await import("chokidar");
  let files = new Set(options.first.files);
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  let isClosed = false;
  const foldersOf = (paths: Iterable<string>) => [...new Set([...paths].map((it) => dirname(it)))];
  let isReady = false;
  let markReady = () => {};
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const folders = new Map<string, string>();
  let watcher = watchFolders();

  function watchFolders(): FSWatcher {
    const all = foldersOf(files);
    folders.clear();
    for (const it of all) folders.set(it, identityOf(it));
    const made = watch(all, { ignoreInitial: false, depth: 0 });
    made.on("all", (_, path) => {
      if (isReady && files.has(path)) readSoon();
    });
    made.on("error", options.onError);
    made.once("ready", () => {
      isReady = true;
      // the files may have changed since the first reading
      readSoon();
      markReady();
    });
    return made;
  }

  /** The system reports no changes of a folder that was removed, and of one that was made in its place. */
  function look(): void {
    if (![...folders].some(([folder, identity]) => identityOf(folder) !== identity)) return;
    const before = watcher;
    watcher = watchFolders();
    before.close().catch(options.onError);
    readSoon();
  }

  let last = JSON.stringify(options.first.scenario);

  async function read(): Promise<void> {
    if (isClosed) return;
    const loaded = await readScenario(options.source);
    files = new Set(loaded.files);
    const added = foldersOf(files).filter((it) => !folders.has(it));
    for (const it of added) folders.set(it, identityOf(it));
    watcher.add(added);
    const text = JSON.stringify(loaded.scenario ?? loaded.problems);
    if (text === last) return;
    last = text;
    if (loaded.scenario) await options.onScenario(loaded.scenario, loaded.warnings);
    else options.onInvalid(loaded);
  }

  function readSoon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reading = reading.then(read).catch(options.onError);
    }, debounce);
  }

  const looking = setInterval(look, lookEvery).unref();
  return {
    ready,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(looking);
      await watcher.close();
      await reading;
    },
  };
}
