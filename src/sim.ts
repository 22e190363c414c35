import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { transferableAbortController } from "node:util";
import { createAnswers } from "./answers/answers.ts";
import { answerPort } from "./answers/port.ts";
import { createClient } from "./client.ts";
import type { ControlDesk, ResetPart } from "./control/desk.ts";
import type { Admission } from "./control/feed/admission.ts";
import { type GuardRules, mayVisit } from "./control/guard.ts";
import { answerRequest } from "./door/fetch.ts";
import { type ListenOptions, listen } from "./door/listener.ts";
import { createFaults } from "./faults/faults.ts";
import { faultPort } from "./faults/port.ts";
import { createPlaces } from "./geo/places.ts";
import { createApp } from "./http/app.ts";
import type { Call } from "./http/call.ts";
import type { Family } from "./http/endpoint.ts";
import { eitherPort, overlaid } from "./http/fault.ts";
import { createRouter } from "./http/router.ts";
import { idInHeader } from "./ingest/project.ts";
import { showEvent } from "./ingest/show.ts";
import { captureEndpoints } from "./ingestion/capture.ts";
import { ownerOfUnmatched, peek } from "./ingestion/peek.ts";
import { createAgenda } from "./kernel/agenda.ts";
import { createClock } from "./kernel/clock.ts";
import { clockFacts } from "./kernel/clock-facts.ts";
import { createGauge } from "./kernel/gauge.ts";
import { isLoopbackHost } from "./kernel/host-rules.ts";
import { randomIds } from "./kernel/ids.ts";
import type { JsonObject } from "./kernel/json.ts";
import { parseAddress } from "./kernel/network.ts";
import { readPublicUrl } from "./kernel/reach.ts";
import { maskKeys } from "./kernel/secrets.ts";
import { stackOf } from "./kernel/stack-of.ts";
import { storageTrouble } from "./kernel/storage-trouble.ts";
import { version } from "./kernel/version.ts";
import { inSlices } from "./kernel/work.ts";
import { partitionOf } from "./model/answer.ts";
import type { Desk } from "./model/desk.ts";
import type { EventReader } from "./model/event-reader.ts";
import { createKeyring } from "./model/keyring.ts";
import type { Note } from "./model/traffic.ts";
import { isUnmatched } from "./model/unmatched.ts";
import type { World } from "./model/world.ts";
import type { ResourceDesk } from "./resources/desk.ts";
import { createThrottle, noThrottle } from "./resources/throttle.ts";
import type { ScenarioSource } from "./scenario/load.ts";
import { peopleOf, storePeople, worldOf } from "./scenario/scenario.ts";
import { checkOptions, redactionOf } from "./sim/check-options.ts";
import { tellingOwner } from "./sim/delayed-owner.ts";
import type { Exports } from "./sim/exports.ts";
import { documented, lateRows, warmUp } from "./sim/late-rows.ts";
import {
  listenOrExplain,
  loadOrExplain,
  lookupOrExplain,
  openOrExplain,
  startOfClock,
} from "./sim/opening.ts";
import { ownCalls } from "./sim/own-calls.ts";
import { withMode } from "./sim/recording-mode.ts";
import { listenRecording, offlineBy, overOwnSocket, recordingInShort } from "./sim/recording-start.ts";
import { createRecordings } from "./sim/recordings.ts";
import { createRefusals } from "./sim/refusals.ts";
import { createReplaying, missWays, replayOrExplain } from "./sim/replaying.ts";
import { summaryOf } from "./sim/summary.ts";
import type { Sim, SimOptions } from "./sim/types.ts";
import { adopt, unknownPath } from "./sim/unknown.ts";
import { type Bytes, memoryBytes } from "./store/bytes.ts";
import { openPeople, type PeopleStore } from "./store/people.ts";
import { type EventsText, entryWriter, eventsText } from "./store/traffic-entry.ts";
import type { TrafficLog } from "./store/traffic-log.ts";

export type {
  ClockSetting,
  Finding,
  RedactionRule,
  RedactionRules,
  RequestSummary,
  Sim,
  SimOptions,
} from "./sim/types.ts";
export { StartError } from "./sim/types.ts";

/**
 * Starts a sim. It installs no signal handlers and keeps no global state.
 * @throws StartError
 */
export async function startSim(given: SimOptions = {}): Promise<Sim> {
  checkOptions(given);
  const options = await withMode(given);
  const redaction = redactionOf(options);
  const host = options.host ?? "127.0.0.1";
  const notice = (text: string) => options.onNotice?.(maskKeys(text));
  const scenarioSource = options.scenario ?? "default";
  const scenario = await loadOrExplain(options, notice);
  const dialect = options.dialect ?? scenario.current.dialect ?? "documented";
  const lookup = await lookupOrExplain(options.geoip, notice);
  const clockStart = startOfClock(options.clock ?? scenario.current.clock);
  const clock = createClock(clockStart);
  const ids = randomIds(clock);
  const gauge = createGauge();
  const store = await openOrExplain(options, scenario.current, clock.now, notice);
  const onRefusal = createRefusals({ folder: store.folder, notice });
  const kept = options.clock === undefined ? store.clock?.read() : undefined;
  if (kept) clock.resume(kept);
  const agenda = createAgenda(
    clock,
    (error) =>
      storageTrouble(error) === undefined
        ? notice(`what was due failed: ${stackOf(error)}`)
        : onRefusal(error),
    store.clock?.keep,
  );
  const { worlds, people, log } = store;
  const geoip = createPlaces({ rows: () => worlds.current.geoip, lookup });

  /** What was recorded has the keys of another place. */
  const adopting = () => options.adoptTokens === true || replaying.active || recordings.isOn;
  const projectFor = (token: string) =>
    worlds.projectByKey(token) ?? (adopting() ? adopt({ worlds, ids, clock }, token, notice) : undefined);
  const isOpen = isOpenAt(host, options.publicUrl);
  const keys = createKeyring(worlds, isOpen ? `_${randomBytes(16).toString("hex")}` : undefined);
  const underway: Desk["underway"] = new Map();
  /** Waits for batches in progress: half of one must not outlive what it belongs to. */
  async function settled(): Promise<void> {
    do await turn();
    while (underway.size > 0);
  }
  const { seen } = log;
  const desk: Desk = { worlds, people, clock, ids, dialect, keys, geoip, projectFor, seen, underway };
  const faults = createFaults({ clock, onChange: notice });
  faults.replace(scenario.current.faults ?? []);
  const answers = createAnswers();
  // Node's own, also where a test environment (happy-dom) has replaced the global one
  const ending = transferableAbortController();
  const replaying = createReplaying({
    redaction,
    read: (call, family) => peek(desk, call, family, projectFor),
    notice,
    ...missWays(options, redaction, ending.signal, () => listener.port, notice),
  });
  await replayOrExplain(replaying, options, store);
  const recordings = createRecordings({
    redaction,
    app: () => app,
    clock,
    gauge,
    notice,
    read: (call, family) => peek(desk, call, family, projectFor),
    knows: async (path) => (router.exact(path) ?? (await router.search(path))) !== undefined,
    offline: offlineBy(options),
    folders: [process.cwd(), ...(store.folder === null ? [] : [store.folder])],
    ...(options.upstreamCa !== undefined && { upstreamCa: options.upstreamCa }),
  });
  const controlDesk: Omit<ControlDesk, "flagBook" | "exports"> = {
    ...desk,
    feed: () => admission().then(({ feed }) => feed),
    scenario: () => ({ problems: scenario.problems.length, edit: scenario.edit }),
    damageCount: () => store.damage.count,
    faults,
    answers,
    tapes: replaying,
    recordings,
    worlds,
    people,
    log,
    gauge,
    inspectable: options.reportLinks === true,
    notice,
    stop: options.onStop,
    closing: ending.signal,
    endpoints: () => documented(router),
    info: () => info(),
    reset,
    scenarioWorld: () => worldOf(scenario.current),
    seedPeople,
    scenarioPeople: () => peopleOf(scenario.current),
    clock,
    agenda,
    clockStart,
    switchTo: store.switchTo,
    settled,
    snapshots: store.snapshots,
  };
  const controlToken = options.token ?? (isOpen ? randomBytes(16).toString("hex") : null);
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  const rules: GuardRules = { token: controlToken, publicUrl };
  let admitting: Promise<Admission> | undefined;
  /** The live feed is loaded when somebody asks for it. */
  const admission = () => {
    admitting ??= import("./control/feed/admission.ts").then((it) => it.openAdmission(controlDesk, rules));
    return admitting;
  };
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
    captureEndpoints(desk, (call) => mayVisit(call, rules)),
    lateRows({ desk, resourceDesk, controlDesk, rules, exportsOf }),
  );
  const entryOf = entryWriter();
  const read = (call: Call, family: Family) => peek(desk, call, family);
  const app = createApp({
    router,
    journal(call, reply, rejected) {
      const note = (reply.note ?? {}) as Note;
      if (rejected) {
        const { reason, detail, hint } = rejected;
        const shown = { reason, detail: maskKeys(detail) };
        note.rejected = hint === undefined ? shown : { ...shown, hint: maskKeys(hint) };
      }
      if (reply.fault !== undefined) note.fault = reply.fault;
      if (reply.scripted) note.scripted = true;
      if (reply.source !== undefined) note.source = reply.source;
      // rejected before a handler found the project
      note.project ??= (isUnmatched(note) ? ownerOfUnmatched : idInHeader)(desk, call) ?? null;
      const partition = partitionOf(call.headers);
      if (partition !== undefined) note.partition = partition;
      gauge.tell(call.ticket, note.project ?? null);
      const append = (events: EventsText) => {
        log.append(entryOf(call, reply, note, events));
        if (note.keys) underway.delete(note.keys);
        return log.written();
      };
      const events = inSlices(eventsText(note.events));
      return events instanceof Promise ? events.then(append) : append(events);
    },
    faults: tellingOwner(
      overlaid(eitherPort(answerPort(answers, read), faultPort(faults, ending.signal, read)), replaying.port),
      gauge,
      read,
    ),
    unknownPath: (call, endpoints) => unknownPath(call, endpoints, options.strict === true),
    onRefusal,
    onCrash: (error, call) => notice(`a bug in phx-sim at ${call.method} ${call.path}: ${stackOf(error)}`),
  });

  function seedPeople(project: number): void {
    storePeople(people, peopleOf(scenario.current), project);
  }

  /** The scenario's world. Where events of test projects stay, no later project gets the number of one of them. */
  function freshWorld(withoutEvents: boolean): World {
    const world = worldOf(scenario.current);
    const { projects = 0 } = withoutEvents ? {} : worlds.current.sequences;
    return {
      ...world,
      sequences: { ...world.sequences, projects: Math.max(projects, world.sequences.projects ?? 0) },
    };
  }

  function freshPeople(addMore: (people: PeopleStore) => void): Bytes {
    const fresh = openPeople();
    storePeople(fresh, peopleOf(scenario.current));
    addMore(fresh);
    const lines = memoryBytes();
    fresh.copyInto(lines);
    return lines;
  }

  async function reset(
    parts: ReadonlySet<ResetPart>,
    addPeople: (people: PeopleStore) => void,
  ): Promise<void> {
    await settled();
    store.switchTo([
      ...(parts.has("world") ? [worlds.replacing(freshWorld(parts.has("events")))] : []),
      ...(parts.has("people") ? [people.replacing(freshPeople(addPeople))] : []),
      ...(parts.has("events") ? [log.replacing([], !store.snapshots.isEmpty)] : []),
    ]);
    if (exports) await resetExports(await exports, parts);
    if (parts.has("clock")) await agenda.change((it) => it.start(clockStart));
    if (parts.has("answers")) {
      answers.clear();
      replaying.rewind();
    }
    if (parts.has("faults")) faults.replace(scenario.current.faults ?? []);
  }

  const listenOptions: ListenOptions = {
    app,
    clock,
    gauge,
    host,
    port: options.port ?? 0,
    proxy: options.proxy ?? {},
    notice,
    passing: recordings,
    publicUrl,
    admit: async (call) => (await admission()).admit(call),
  };
  const listener = await listenOrExplain(
    () => listenRecording(recordings, options, () => listen(listenOptions)),
    options,
    store,
  ).catch(async (error: unknown) => {
    await replaying.close();
    throw error;
  });
  const url = `http://${addressOf(host)}:${listener.port}`;
  const shownUrl = publicUrl ?? url;
  const first = () => worlds.current.projects[0];

  function facts(): JsonObject {
    const project = first();
    const [personal] = worlds.current.personal_api_keys;
    return {
      name: "phx-sim",
      version,
      pid: process.pid,
      url: shownUrl,
      local_url: url,
      inspector_url: inspectorLink(shownUrl, options.token === undefined ? controlToken : null),
      project_api_key: project?.api_key ?? null,
      secret_api_key: project === undefined ? null : keys.shownSecret(project),
      personal_api_key: personal === undefined ? null : keys.shownPersonal(personal),
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
    scenario_problems: scenario.problems.map((it) => ({ ...it })),
    scenario_warnings: scenario.warnings.map((it) => ({ ...it })),
    scenario_edit: scenario.edit && {
      ...scenario.edit,
      changes: scenario.edit.changes.map((it) => ({ ...it })),
    },
    damage: store.damage.first.map((it) => ({ ...it })),
    damage_count: store.damage.count,
    tape: replaying.named(),
    recording: recordingInShort(recordings.facts()),
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
              switchTo: store.switchTo,
              faults,
              notice,
              onApplied: wakeExports,
            }),
          )
          .catch((error: unknown) => notice(`the scenario cannot be followed: ${stackOf(error)}`));

  const handle = (request: Request): Promise<Response> =>
    recordings.current === undefined
      ? answerRequest(request, { app, clock, gauge, closing: ending.signal })
      : overOwnSocket(request, url);
  let closing: Promise<void> | undefined;
  const close = () => {
    ending.abort();
    agenda.close();
    closing ??= listener
      .close()
      .then(() => recordings.stop())
      .then(replaying.close)
      .then(endWarmUp)
      .then(async () => (await following)?.close())
      .then(async () => (await exports)?.close())
      .finally(() => store.close());
    return closing;
  };
  const send = ownCalls({ app, clock, url, publicUrl, closing: ending.signal });
  const sim: Sim = {
    ...createClient({ url, send, facts: facts(), close }),
    dialect,
    data: store.folder,
    controlToken,
    publicUrl: shownUrl,
    version,
    endpoints: () => documented(router),
    handle,
    recorded: recordings.facts,
    isReplaying: () => replaying.active,
    onRequest: (tell) => log.subscribe((written) => tell(summaryOf(written, worlds.projectById))),
  };
  store.announce({ ...facts(), control_token: controlToken });
  const endWarmUp = warmUp(router, wakeExports);
  return sim;
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
  *byTime(query) {
    for (const ref of log.byTime({ ...query, outcome: "kept" })) yield ref && showEvent(ref.line, ref.index);
  },
});

/** What a scenario is called; one that was given as an object has no name. */
function nameOf(source: ScenarioSource): string {
  const parts: readonly unknown[] = Array.isArray(source) ? source : [source];
  return parts.map((it) => (typeof it === "string" ? it : "(inline)")).join(", ");
}

/** The link carries a generated token in the part that browsers do not send; one that was given is not shown. */
const inspectorLink = (url: string, token: string | null): string =>
  `${url}/__sim/${token === null ? "" : `#t=${token}`}`;

/** Can anyone but this machine reach the sim? */
const isOpenAt = (host: string, publicUrl: string | undefined): boolean =>
  !isLoopbackHost(host) ||
  isWildcard(host) ||
  (publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname));

const isWildcard = (host: string): boolean => parseAddress(host)?.every((byte) => byte === 0) ?? false;

/** The host as it stands in a URL; a wildcard address is reached through loopback. */
function addressOf(host: string): string {
  if (isWildcard(host)) return "127.0.0.1";
  return isIP(host) === 6 ? `[${host}]` : host;
}
