import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { createAnswers } from "./answers/answers.ts";
import { answerPort } from "./answers/port.ts";
import { type Client, createClient } from "./client.ts";
import type { ControlDesk, ResetPart } from "./control/desk.ts";
import type { GuardRules } from "./control/guard.ts";
import { answerRequest } from "./door/fetch.ts";
import { type Listener, listen } from "./door/listener.ts";
import { createFaults } from "./faults/faults.ts";
import { faultPort } from "./faults/port.ts";
import type { FlagBook } from "./flags/book.ts";
import { createPlaces, type PlaceLookup } from "./geo/places.ts";
import { createApp } from "./http/app.ts";
import type { Call } from "./http/call.ts";
import type { Endpoint, Family } from "./http/endpoint.ts";
import { eitherPort } from "./http/fault.ts";
import { nearestEndpoints } from "./http/nearest.ts";
import { createRouter, type LateRows, type Router } from "./http/router.ts";
import { keysOf, showEvent } from "./ingest/show.ts";
import { captureEndpoints } from "./ingestion/capture.ts";
import { peek } from "./ingestion/peek.ts";
import { createAgenda } from "./kernel/agenda.ts";
import { type ClockStart, createClock, realTime } from "./kernel/clock.ts";
import { clockFacts } from "./kernel/clock-facts.ts";
import { SimError } from "./kernel/errors.ts";
import { createGauge } from "./kernel/gauge.ts";
import { randomIds } from "./kernel/ids.ts";
import type { JsonObject } from "./kernel/json.ts";
import { clockStartExpected, readClockStart } from "./kernel/time-text.ts";
import { version } from "./kernel/version.ts";
import { partitionOf } from "./model/answer.ts";
import { blankProject } from "./model/blank.ts";
import type { Desk } from "./model/desk.ts";
import type { Dialect } from "./model/dialect.ts";
import type { EventReader } from "./model/event-reader.ts";
import { type DropReason, explain, type Warning } from "./model/outcome.ts";
import { wireTime } from "./model/time.ts";
import type { Note } from "./model/traffic.ts";
import type { Project } from "./model/world.ts";
import type { ResourceDesk } from "./resources/desk.ts";
import { createThrottle, noThrottle } from "./resources/throttle.ts";
import { loadScenario, ScenarioError, type ScenarioSource } from "./scenario/load.ts";
import type { ScenarioProblem } from "./scenario/problems.ts";
import type { OnChange } from "./scenario/reload.ts";
import { peopleOf, type Scenario, storePeople, worldOf } from "./scenario/scenario.ts";
import type { Exports } from "./sim/exports.ts";
import { DataFolderError } from "./store/data-folder.ts";
import { openStore, type Store } from "./store/store.ts";
import { entryWriter } from "./store/traffic-entry.ts";
import type { TrafficLog, Written } from "./store/traffic-log.ts";

export interface SimOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. Anything wider makes the control API ask for a token. */
  host?: string;
  /** Folder for what arrives and what is edited. Default: everything stays in memory. */
  data?: string;
  /**
   * A shipped scenario's name, the path of a scenario file, a scenario, or a list of these that are laid over each
   * other. Default `default`.
   */
  scenario?: ScenarioSource;
  /** `documented`: the contract; `production` follows the live service where the two differ. Default: the scenario's. */
  dialect?: Dialect;
  /**
   * What an edit of the scenario's files does to a running sim. `merge`: what the edit changed is changed, all else
   * stays; `reset`: back to the scenario, captured events stay; `ignore` (default): nothing.
   */
  onChange?: OnChange;
  /** Makes a project of every well-formed unknown `phc_` key. */
  adoptTokens?: boolean;
  /** Applies the service's rate limits to personal keys. Default: off. */
  rateLimits?: boolean;
  /** Path of a city database in MaxMind's format; rows of the scenario count before it. Default: none. */
  geoip?: string;
  /** Answers 501 with the nearest endpoints on paths that are not emulated. */
  strict?: boolean;
  /**
   * The sim's time at the start, and after a reset: `real` (the machine's), or a time in ISO 8601 from which it
   * runs on, or at which it stands. Default: the scenario's, else `real`.
   */
  clock?: ClockSetting;
  /** Told what the user should know: a repaired log, an adopted key, a bug. */
  onNotice?: (text: string) => void;
}

/** How the clock starts: `real`, a time, or both with whether it stands. */
export type ClockSetting = string | { now?: string; frozen?: boolean };

/** Something to know about an event: why it was dropped, or what was odd about it. */
export interface Finding {
  event: string;
  /** Machine-readable; the README lists them. */
  reason: string;
  sentence: string;
  fix: string;
}

/** A request that has been answered, in a few words. */
export interface RequestSummary {
  n: number;
  method: string;
  target: string;
  status: number;
  ms: number;
  project: number | null;
  rejected?: { reason: string; detail: string };
  /** Names of the faults that touched it; `status` is 0 where they kept the answer from arriving. */
  fault?: string;
  /** Answered by a script. */
  scripted?: true;
  events: number;
  /** Names of the kept events, the first few. */
  names: string[];
  dropped: Finding[];
  /** What was odd about events that were kept. */
  warnings: Finding[];
}

/** A running sim. */
export interface Sim extends Omit<Client, "info">, AsyncDisposable {
  readonly url: string;
  readonly inspectorUrl: string;
  /** Public key of the first project, `phc_…`. */
  readonly apiKey: string;
  /** Its secret key, `phs_…`. */
  readonly secretApiKey: string;
  /** A personal key that may do everything, `phx_…`. */
  readonly personalApiKey: string;
  readonly projectId: number;
  readonly dialect: Dialect;
  /** The data folder, or null in memory. */
  readonly data: string | null;
  /** Needed by the control API once the port is bound wider than loopback. */
  readonly controlToken: string | null;
  readonly version: string;
  /** Every endpoint that is served: the rows behind the routes. */
  endpoints(): Promise<readonly Omit<Endpoint, "handle">[]>;
  /** Answers a web request without a socket; usable as an SDK's `fetch` option. */
  handle(request: Request): Promise<Response>;
  info(): JsonObject;
  /** Calls back after each answered request; returns the function that ends it. */
  onRequest(listener: (summary: RequestSummary) => void): () => void;
  /** Stops accepting, writes everything, closes. Harmless when done twice. */
  close(): Promise<void>;
}

/** Why a sim could not start. */
export class StartError extends Error {
  readonly code: "clock" | "port_in_use" | "bad_host" | "bad_port" | "data_folder" | "scenario" | "geoip";
  /** What to do about it. */
  readonly hint: string;

  constructor(code: StartError["code"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartError";
    this.code = code;
    this.hint = hint;
  }
}

/** Memory mode holds this many bytes of traffic before the oldest requests are let go. */
const memoryLimit = 256 * 1024 * 1024;

/**
 * Starts a sim. It installs no signal handlers and keeps no global state.
 * @throws StartError
 */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const host = options.host ?? "127.0.0.1";
  const notice = options.onNotice ?? (() => {});
  const scenarioSource = options.scenario ?? "default";
  const scenario = { current: await loadOrExplain(scenarioSource) };
  const dialect = options.dialect ?? scenario.current.dialect ?? "documented";
  let scenarioProblems: readonly ScenarioProblem[] = [];
  const lookup = await lookupOrExplain(options.geoip, notice);
  const clockStart = startOfClock(options.clock ?? scenario.current.clock);
  const clock = createClock(clockStart);
  const agenda = createAgenda(clock, (error) => notice(`what was due failed: ${stackOf(error)}`));
  const ids = randomIds(clock);
  const gauge = createGauge();
  const store = await openOrExplain(options, scenario.current, notice);
  const { worlds, people, log } = store;
  const geoip = createPlaces({ rows: () => worlds.current.geoip, lookup });

  const projectFor = options.adoptTokens
    ? (token: string) => worlds.projectByKey(token) ?? adopt({ worlds, ids, clock }, token, notice)
    : (token: string) => worlds.projectByKey(token);
  const desk: Desk = { worlds, people, clock, ids, dialect, geoip, projectFor, seen: log.seen };
  const faults = createFaults({ clock, onChange: notice });
  faults.replace(scenario.current.faults ?? []);
  const answers = createAnswers();
  const ending = new AbortController();
  const controlDesk: Omit<ControlDesk, "flagBook" | "exports"> = {
    ...desk,
    faults,
    answers,
    worlds,
    people,
    log,
    gauge,
    endpoints: () => documented(router),
    info: () => info(),
    reset,
    scenarioWorld: () => worldOf(scenario.current),
    seedPeople,
    clock,
    agenda,
    clockStart,
    snapshots: store.snapshots,
  };
  const controlToken = isLoopback(host) ? null : randomBytes(16).toString("hex");
  const rules = { hosts: [host.toLowerCase()], token: controlToken };
  const resourceDesk: Omit<ResourceDesk, "exports"> = {
    ...desk,
    people,
    events: eventReader(log),
    throttle: options.rateLimits ? createThrottle(clock) : noThrottle,
  };
  let exports: Promise<Exports> | undefined;
  /** Loaded when somebody asks about exports, or once the start is over and there are some. */
  const exportsOf = () => {
    exports ??= import("./sim/exports.ts").then(({ openExports }) => openExports(desk, store, agenda));
    return exports;
  };
  const wakeExports = () => {
    if (worlds.current.batch_exports.length > 0) void exportsOf();
  };
  const router = createRouter(
    captureEndpoints(desk),
    lateRows({ desk, resourceDesk, controlDesk, rules, exportsOf }),
  );
  const entryOf = entryWriter();
  const read = (call: Call, family: Family) => peek(desk, call, family);
  const app = createApp({
    router,
    journal(call, reply, rejected) {
      const note = (reply.note ?? {}) as Note;
      if (rejected) note.rejected = rejected;
      if (reply.fault !== undefined) note.fault = reply.fault;
      if (reply.scripted) note.scripted = true;
      const partition = partitionOf(call.headers);
      if (partition !== undefined) note.partition = partition;
      log.append(entryOf(call, reply, note));
      return log.written();
    },
    faults: eitherPort(answerPort(answers, read), faultPort(faults, ending.signal, read)),
    unknownPath: (call, endpoints) => unknownPath(call, endpoints, options.strict === true),
    onCrash: (error, call) => notice(`a bug in phx-sim at ${call.method} ${call.path}: ${stackOf(error)}`),
  });

  function seedPeople(project?: number): void {
    storePeople(people, peopleOf(scenario.current), project);
  }

  async function reset(parts: ReadonlySet<ResetPart>): Promise<void> {
    if (parts.has("world")) worlds.replace(worldOf(scenario.current));
    if (parts.has("people")) {
      people.clear();
      seedPeople();
    }
    if (parts.has("events") && store.snapshots.isEmpty) log.reset();
    else if (parts.has("events")) log.forget();
    if (exports) await resetExports(await exports, parts);
    if (parts.has("clock")) await agenda.change((it) => it.start(clockStart));
    if (parts.has("answers")) answers.clear();
    if (parts.has("faults")) faults.replace(scenario.current.faults ?? []);
    await log.written();
  }

  const listener = await listenOrExplain(
    () => listen({ app, clock, gauge, host, port: options.port ?? 0 }),
    options,
    store,
  );
  const url = `http://${addressOf(host)}:${listener.port}`;
  const first = () => worlds.current.projects[0];

  function facts(): JsonObject {
    const project = first();
    return {
      name: "phx-sim",
      version,
      pid: process.pid,
      url,
      inspector_url: `${url}/__sim/`,
      project_api_key: project?.api_key ?? null,
      secret_api_key: project?.secret_api_key ?? null,
      personal_api_key: worlds.current.personal_api_keys[0]?.key ?? null,
      project_id: project?.id ?? null,
      projects: worlds.current.projects.map(({ id, name, api_key, adopted }) => ({
        id,
        name,
        api_key,
        adopted,
      })),
      scenario: nameOf(scenarioSource),
      data: store.folder,
      dialect,
      rate_limits: options.rateLimits === true,
      strict: options.strict === true,
      adopt_tokens: options.adoptTokens === true,
    };
  }

  const info = (): JsonObject => ({
    ...facts(),
    clock: { ...clockFacts(clock, agenda, clockStart) },
    counts: { ...log.counts(), ...people.counts() },
    scenario_problems: scenarioProblems.map((it) => ({ ...it })),
    faults: faults.list().flatMap(({ state, name }) => (state === "active" ? [name] : [])),
    cursor: log.lastSeq,
    in_flight: gauge.inFlight,
  });

  const mode = options.onChange ?? "ignore";
  const following =
    mode === "ignore" || scenarioSource === "default"
      ? undefined
      : import("./sim/follow-scenario.ts")
          .then(({ followScenario }) =>
            followScenario({
              source: scenarioSource,
              mode,
              scenario,
              worlds,
              faults,
              notice,
              onApplied: wakeExports,
              onProblems(problems) {
                scenarioProblems = problems;
              },
            }),
          )
          .catch((error: unknown) => notice(`the scenario cannot be followed: ${stackOf(error)}`));

  const handle = (request: Request): Promise<Response> =>
    answerRequest(request, { app, clock, gauge, closing: ending.signal });
  const { info: _, ...client } = createClient(url, handle);
  let closing: Promise<void> | undefined;
  const close = () => {
    ending.abort();
    agenda.close();
    closing ??= listener
      .close()
      .then(async () => (await following)?.close())
      .then(async () => (await exports)?.close())
      .finally(() => store.close());
    return closing;
  };
  const sim: Sim = {
    ...client,
    url,
    inspectorUrl: `${url}/__sim/`,
    apiKey: first()?.api_key ?? "",
    secretApiKey: first()?.secret_api_key ?? "",
    personalApiKey: worlds.current.personal_api_keys[0]?.key ?? "",
    projectId: first()?.id ?? 0,
    dialect,
    data: store.folder,
    controlToken,
    version,
    endpoints: () => documented(router),
    handle,
    info,
    onRequest: (tell) => log.subscribe((written) => tell(summaryOf(written))),
    close,
    [Symbol.asyncDispose]: close,
  };
  store.announce({ ...facts(), control_token: controlToken });
  warmUp(router, wakeExports);
  return sim;
}

const isControl = (path: string): boolean => path.startsWith("/__sim");
const isManagement = (path: string): boolean => /^\/(api|shared|shared_dashboard|embedded)\//.test(path);

/** Everything but capture: what SDKs ask for besides, the management API, the control API; each when it is needed. */
function lateRows({ desk, resourceDesk, controlDesk, rules, exportsOf }: LateParts): LateRows[] {
  let book: Promise<FlagBook> | undefined;
  const bookOf = () => {
    book ??= import("./flags/book.ts").then(({ createFlagBook }) => createFlagBook(desk));
    return book;
  };
  return [
    {
      owns: (path) => !isControl(path),
      async load() {
        const { lateIngestionEndpoints } = await import("./ingestion/index.ts");
        return lateIngestionEndpoints(desk, await bookOf());
      },
    },
    {
      owns: isManagement,
      async load() {
        const { resourceEndpoints } = await import("./resources/index.ts");
        return resourceEndpoints({ ...resourceDesk, exports: (await exportsOf()).engine });
      },
    },
    {
      owns: isControl,
      async load() {
        const { controlEndpoints } = await import("./control/index.ts");
        return controlEndpoints(
          { ...controlDesk, flagBook: await bookOf(), exports: await exportsOf() },
          rules,
        );
      },
    },
  ];
}

interface LateParts {
  desk: Desk;
  resourceDesk: Omit<ResourceDesk, "exports">;
  controlDesk: Omit<ControlDesk, "flagBook" | "exports">;
  rules: GuardRules;
  exportsOf(): Promise<Exports>;
}

/** The rows with their docs; those of the public endpoints are loaded only for this. */
async function documented(router: Router): Promise<readonly Endpoint[]> {
  const { withIngestionDocs } = await import("./ingestion/docs/index.ts");
  return withIngestionDocs(await router.endpoints());
}

const warmUpDelay = 250;

/** So that the first flag request does not pay for the loading, and what is due happens without a request. */
function warmUp(router: Router, wakeExports: () => void): void {
  setTimeout(() => {
    void router.warm("/flags");
    wakeExports();
  }, warmUpDelay).unref();
}

async function loadOrExplain(scenario: ScenarioSource): Promise<Scenario> {
  try {
    return await loadScenario(scenario);
  } catch (error) {
    if (error instanceof ScenarioError) throw new StartError("scenario", error.message, error.hint, error);
    throw error;
  }
}

/** @throws StartError clock */
function startOfClock(setting: ClockSetting | undefined): ClockStart {
  const start = setting === undefined ? realTime : readClockStart(setting);
  if (start) return start;
  throw new StartError(
    "clock",
    `the clock cannot start at ${JSON.stringify(setting)}`,
    `give ${clockStartExpected}`,
  );
}

/** Reads the city database, if there is one. */
async function lookupOrExplain(
  path: string | undefined,
  onNotice: (text: string) => void,
): Promise<PlaceLookup | undefined> {
  if (path === undefined) return undefined;
  const { CityFileError, openCityFile } = await import("./geo/city-file.ts");
  try {
    return await openCityFile(resolve(path), onNotice);
  } catch (error) {
    if (error instanceof CityFileError) throw new StartError("geoip", error.message, error.hint, error);
    throw error;
  }
}

async function openOrExplain(
  options: SimOptions,
  scenario: Scenario,
  onNotice: (text: string) => void,
): Promise<Store> {
  let isNew = false;
  try {
    const store = await openStore({
      folder: options.data ?? null,
      seedWorld() {
        isNew = true;
        return worldOf(scenario);
      },
      keysOf,
      keepBytes: memoryLimit,
      onNotice,
    });
    if (isNew && store.people.counts().persons === 0) storePeople(store.people, peopleOf(scenario));
    if (!isNew && options.scenario !== undefined && options.scenario !== "default") {
      onNotice("the data folder has its own world already; `phx-sim state reset` takes the scenario's");
    }
    return store;
  } catch (error) {
    if (error instanceof DataFolderError)
      throw new StartError("data_folder", error.message, error.hint, error);
    throw error;
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

async function listenOrExplain(
  open: () => Promise<Listener>,
  options: SimOptions,
  store: Store,
): Promise<Listener> {
  try {
    return await open();
  } catch (error) {
    await store.close();
    const code = (error as NodeJS.ErrnoException).code ?? "";
    throw listenErrors[code]?.(options.port ?? 0, options.host ?? "127.0.0.1") ?? error;
  }
}

/** Files and knowledge of exports go with what they were made of. */
async function resetExports({ files, forgetEvents }: Exports, parts: ReadonlySet<ResetPart>): Promise<void> {
  if (parts.has("world")) await files.clear();
  if (parts.has("events")) forgetEvents();
}

/** The log of events as the management API reads it. */
const eventReader = (log: TrafficLog): EventReader => ({
  *newest(query) {
    for (const { line, index } of log.scan({ ...query, outcome: "kept", order: "desc" })) {
      yield showEvent(line, index);
    }
  },
});

/** Makes a project of a well-formed key that nobody has: `phc_` and what a key may contain. */
function adopt(
  { worlds, ids, clock }: Pick<Desk, "worlds" | "ids" | "clock">,
  token: string,
  notice: (text: string) => void,
): Project | undefined {
  if (!/^phc_\w{1,60}$/.test(token)) return undefined;
  notice(`adopted the unknown key ${token} as a new project`);
  return worlds.change((draft) =>
    draft.put(
      "projects",
      blankProject(
        {
          id: draft.nextId("projects"),
          uuid: ids.uuid(),
          organization: worlds.current.organizations[0]?.id ?? "",
          name: `Adopted ${token}`,
          api_key: token,
          adopted: true,
        },
        wireTime(clock.now()),
      ),
    ),
  );
}

/** The service's answer to a path it does not have; in strict mode one that cannot be overlooked. */
function unknownPath(call: Call, endpoints: readonly Endpoint[], strict: boolean): SimError {
  const nearest = nearestEndpoints(endpoints, call.path);
  if (strict && !call.path.startsWith("/__sim")) {
    const detail = `phx-sim does not emulate ${call.method} ${call.path}.`;
    return new SimError(
      "not_emulated",
      nearest.length > 0 ? `${detail} Nearest: ${nearest.join(", ")}.` : detail,
    );
  }
  return new SimError("not_found", "Endpoint not found.", {
    hint: nearest.length > 0 ? `nearest: ${nearest.join(", ")}` : "GET /__sim/info says what is here",
  });
}

const namesShown = 5;

function summaryOf({ n, entry }: Written): RequestSummary {
  const { note, method, target, status, ms, project } = entry;
  const facts = note.events ?? [];
  const nameOf = (i: number) => note.keys?.[i]?.event ?? "";
  const finding = (i: number, reason: DropReason | Warning): Finding => ({
    event: nameOf(i),
    reason,
    ...explain(reason),
  });
  const kept = facts.flatMap((it, i) => (it.dropped === undefined ? [nameOf(i)] : []));
  return {
    n,
    method,
    target,
    status,
    ms,
    project,
    ...(note.rejected && { rejected: note.rejected }),
    ...(note.fault !== undefined && { fault: note.fault }),
    ...(note.scripted && { scripted: note.scripted }),
    events: facts.length,
    names: kept.slice(0, namesShown),
    dropped: facts.flatMap((it, i) => (it.dropped === undefined ? [] : [finding(i, it.dropped)])),
    warnings: facts.flatMap((it, i) => (it.warnings ?? []).map((warning) => finding(i, warning))),
  };
}

/** What a scenario is called; one that was given as an object has no name. */
function nameOf(source: ScenarioSource): string {
  const parts: readonly unknown[] = Array.isArray(source) ? source : [source];
  return parts.map((it) => (typeof it === "string" ? it : "(inline)")).join(", ");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host.startsWith("127.");

/** The host as it stands in a URL; a wildcard address is reached through loopback. */
function addressOf(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return isIP(host) === 6 ? `[${host}]` : host;
}

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
