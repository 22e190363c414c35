import { createServer } from "node:net";
import { resolve } from "node:path";
import { type ClockStart, realTime } from "../kernel/base/clock.ts";
import { clockStartExpected, readClockStart } from "../kernel/base/time-text.ts";
import { DataFolderError } from "../kernel/store/data-folder.ts";
import type { ScenarioState } from "../lab/scenario/applied.ts";
import { AppliedScenario } from "../lab/scenario/applied.ts";
import { loadScenario, ScenarioError } from "../lab/scenario/load.ts";
import { type ScenarioProblem, warningNotice } from "../lab/scenario/problems.ts";
import { builtOf, type Scenario, type ScenarioPersons, storePersons } from "../lab/scenario/scenario.ts";
import type { ScenarioSource } from "../lab/scenario/source.ts";
import { TapeOrderError } from "../lab/tapes/ports.ts";
import type { PlaceLookup } from "../service/capture/geo/places.ts";
import { type Keep, keepExpected, readKeep } from "../state/journal/log/trim.ts";
import { keysOf } from "../state/journal/show.ts";
import { openStore, type Store } from "./folder/open-store.ts";
import { type ClockSetting, type SimOptions, StartError } from "./types.ts";

/** The default port of `phx-sim start`. */
const usualPort = 7490;
/** Memory mode holds this many bytes of traffic before the oldest requests are let go. */
const memoryLimit = 256 * 1024 * 1024;

/** Reads the scenario; without one, a data folder keeps the one that it was last started with. @throws StartError scenario */
export async function loadOrExplain(
  { scenario: given, data, fresh }: SimOptions,
  notice: (text: string) => void,
): Promise<ScenarioState> {
  const applied = new AppliedScenario(data === undefined ? null : resolve(data));
  const kept = given === undefined && fresh !== true ? lastScenario(applied) : undefined;
  const source = given ?? kept ?? "default";
  const name = kept ? "(the data folder's)" : nameOf(source);
  let warnings: readonly ScenarioProblem[] = [];
  function onWarnings(found: readonly ScenarioProblem[]): void {
    warnings = found;
    notice(warningNotice(found));
  }
  try {
    const current = kept ?? (await loadScenario(source, onWarnings));
    return { current, source, name, applied, problems: [], warnings, edit: null };
  } catch (error) {
    if (error instanceof ScenarioError) throw new StartError("scenario", error.message, error.hint, error);
    throw error;
  }
}

/** The scenario that was last applied to the folder, if it is valid in this version. */
function lastScenario(applied: AppliedScenario): Scenario | undefined {
  const last = applied.read();
  try {
    if (last) builtOf(last.scenario);
    return last?.scenario;
  } catch {
    return undefined;
  }
}

function nameOf(source: ScenarioSource): string {
  const parts: readonly unknown[] = Array.isArray(source) ? source : [source];
  return parts.map((it) => (typeof it === "string" ? it : "(inline)")).join(", ");
}

/** @throws StartError clock */
export function startOfClock(setting: ClockSetting | undefined): ClockStart {
  const start = setting === undefined ? realTime : readClockStart(setting);
  if (start) return start;
  throw new StartError("clock", `the clock cannot start at ${JSON.stringify(setting)}`, `give ${clockStartExpected}`);
}

export async function lookupOrExplain(
  path: string | undefined,
  onNotice: (text: string) => void,
): Promise<PlaceLookup | undefined> {
  if (path === undefined) return undefined;
  const { CityFileError, openCityFile } = await import("../service/capture/geo/city-file.ts");
  try {
    return await openCityFile(resolve(path), onNotice);
  } catch (error) {
    if (error instanceof CityFileError) throw new StartError("geoip", error.message, error.hint, error);
    throw error;
  }
}

function keepOf({ keep, data }: SimOptions): Keep | undefined {
  const asked = keep === undefined ? {} : readKeep(keep);
  if (!asked) throw new StartError("option", `keep cannot be ${JSON.stringify(keep)}`, `give ${keepExpected}`);
  if (data === undefined) return { bytes: memoryLimit, ...asked };
  return keep === undefined ? undefined : asked;
}

/** Opens the store; `onNewWorld` is called before the scenario's world is written. @throws StartError */
export async function openOrExplain(
  options: SimOptions,
  { current: scenario, applied }: Pick<ScenarioState, "current" | "applied">,
  now: () => number,
  onNotice: (text: string) => void,
  onNewWorld: () => void,
): Promise<Store> {
  let people: ScenarioPersons | undefined;
  try {
    const store = await openStore({
      folder: options.data ?? null,
      seedWorld() {
        onNewWorld();
        const built = builtOf(scenario);
        people = built.people;
        return built.world;
      },
      keysOf,
      keep: keepOf(options),
      ports: [options.port ?? 0, usualPort],
      now,
      onNotice,
    });
    if (people && store.people.counts().persons === 0) {
      storePersons(store.people, people);
      store.log.commit();
    }
    if (people) applied.keep(scenario, null);
    return store;
  } catch (error) {
    if (error instanceof DataFolderError) throw new StartError("data_folder", error.message, error.hint, error);
    throw error;
  }
}

/**
 * Applies the scenario to documents of an earlier start if it is another one, or was edited since. Nothing is changed,
 * and nothing may be removed for `fresh`, by a start that cannot listen.
 * @returns the projects that are new
 * @throws StartError scenario, or why the sim cannot listen; then the store is closed
 */
export async function applyOrExplain(
  options: SimOptions,
  scenario: ScenarioState,
  store: Store,
  notice: (text: string) => void,
): Promise<readonly number[]> {
  const { onChange = "merge", fresh = false } = options;
  if (!fresh && scenario.applied.is(scenario.current)) return [];
  await listenOrExplain(() => canListen(options), options, store);
  if (fresh) return [];
  const { worlds, people, log, switchTo } = store;
  const { applyScenario } = await import("../lab/scenario/apply-scenario.ts");
  const mode = onChange === "reset" ? "reset" : "merge";
  const opening = "the scenario is not the one of the last start and is now in force";
  try {
    const parts = { scenario, worlds, people, log, switchTo, notice };
    return applyScenario(parts, scenario.current, mode, opening);
  } catch (error) {
    await store.close();
    const text = `the scenario cannot be merged into the data folder: ${error instanceof Error ? error.message : error}`;
    throw new StartError("scenario", text, "start with --fresh, or with another folder by --data", error);
  }
}

const tapeCodes: Readonly<Partial<Record<TapeOrderError["key"], StartError["code"]>>> = {
  upstream: "upstream",
  offline: "offline",
  running: "upstream",
  maxAge: "option",
};

/** Waits for what the options order of tapes; the store is closed if it fails. @throws StartError */
export async function tapesOrExplain<T>(work: Promise<T>, store?: Store): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await store?.close();
    if (!(error instanceof TapeOrderError)) throw error;
    throw new StartError(tapeCodes[error.key] ?? "tape", error.message, error.hint, error);
  }
}

type SystemErrors = Record<string, (port: number, host: string) => StartError>;

const listenErrors: SystemErrors = {
  EADDRINUSE: (port, host) =>
    new StartError("port_in_use", `port ${port} on ${host} is in use`, "use --port 0 for any free port"),
  EACCES: (port) => new StartError("bad_port", `port ${port} needs privileges`, "use a port above 1023"),
  EADDRNOTAVAIL: (_, host) =>
    new StartError("bad_host", `${host} is not an address of this machine`, "use --host 127.0.0.1"),
  ENOTFOUND: (_, host) => new StartError("bad_host", `the host ${host} is not known`, "use --host 127.0.0.1"),
};

function canListen({ port = 0, host = "127.0.0.1" }: SimOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject).listen(port, host, () => server.close(() => resolve()));
  });
}

export async function listenOrExplain<T>(open: () => Promise<T>, options: SimOptions, store: Store): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await store.close();
    if (error instanceof TypeError && options.proxy) {
      throw new StartError("proxy", error.message, "it is one of the hosts that the proxy may reach", error);
    }
    const code = (error as NodeJS.ErrnoException).code ?? "";
    throw listenErrors[code]?.(options.port ?? 0, options.host ?? "127.0.0.1") ?? error;
  }
}
