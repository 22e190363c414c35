import { dirname } from "node:path";
import { type LoadedScenario, readScenario, type ScenarioSource, watchList } from "./load.ts";
import type { ScenarioProblem } from "./problems.ts";
import type { Scenario } from "./schema.ts";

/** Follows the files of a scenario until it is closed. */
export interface ScenarioWatch {
  /** Resolves once changes are noticed. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  source: ScenarioSource;
  /** What it was when it was read last: says which files to look at first. */
  first: Omit<LoadedScenario, "warnings">;
  /** Told of each new scenario that is whole; it is awaited before the next one is read. */
  onScenario(scenario: Scenario, warnings: readonly ScenarioProblem[]): void | Promise<void>;
  /** Told when the files say something that is no scenario; the last good one still counts. */
  onInvalid(loaded: LoadedScenario): void;
  onError(error: unknown): void;
}

/** Editors write a file in several steps: what follows within this time belongs to the same edit, ms. */
const debounce = 80;

/**
 * Reads a scenario again whenever one of its files is changed, replaced, removed or made again; also those that
 * it comes to extend. The folders are watched, not the files: an editor that renames a new file into the place
 * of the old one leaves nothing of the old one to watch.
 */
export async function watchScenario(options: WatchOptions): Promise<ScenarioWatch> {
  const { watch } = await import("chokidar");
  let files = new Set(watchList(options.first));
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  let isClosed = false;
  const foldersOf = (paths: Iterable<string>) => [...new Set([...paths].map((it) => dirname(it)))];
  // What a folder holds is told once it is watched: whatever changed before that is noticed then.
  const watcher = watch(foldersOf(files), { ignoreInitial: false, depth: 0 });
  let isReady = false;
  let last = JSON.stringify(options.first.scenario);

  async function read(): Promise<void> {
    if (isClosed) return;
    const loaded = await readScenario(options.source);
    files = new Set(watchList(loaded));
    watcher.add(foldersOf(files));
    const text = JSON.stringify(loaded.scenario ?? loaded.problems);
    if (text === last) return;
    last = text;
    if (loaded.scenario) await options.onScenario(loaded.scenario, loaded.warnings);
    else options.onInvalid(loaded);
  }

  function soon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reading = reading.then(read).catch(options.onError);
    }, debounce);
  }

  watcher.on("all", (_, path) => {
    if (isReady && files.has(path)) soon();
  });
  watcher.on("error", options.onError);
  return {
    ready: new Promise((resolve) => {
      watcher.once("ready", () => {
        isReady = true;
        // Between the first reading and now the files may have changed.
        soon();
        resolve();
      });
    }),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await watcher.close();
      await reading;
    },
  };
}
