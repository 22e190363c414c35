import { randomBytes } from "node:crypto";
import util from "node:util";
import { createAgenda } from "../kernel/base/agenda.ts";
import { createBus } from "../kernel/base/bus.ts";
import { createClock } from "../kernel/base/clock.ts";
import { stackOf, storageTrouble } from "../kernel/base/errors.ts";
import { randomIds } from "../kernel/base/ids.ts";
import { type Loaded, onFirstUse } from "../kernel/base/on-first-use.ts";
import { maskKeys } from "../kernel/base/secrets.ts";
import { version } from "../kernel/base/version.ts";
import { accessOf } from "../kernel/call/access.ts";
import type { Send } from "../kernel/call/call.ts";
import { createApp, type ObservingApp } from "../kernel/http/app.ts";
import { type GuardRules, mayVisit } from "../kernel/http/control-access.ts";
import { eitherPort, overlaid } from "../kernel/http/fault.ts";
import { createGauge } from "../kernel/http/gauge.ts";
import { readPublicUrl } from "../kernel/http/reach.ts";
import { createRouter, type Router } from "../kernel/http/router.ts";
import { createAnswers } from "../lab/faults/answers.ts";
import { answerPort, faultPort } from "../lab/faults/port.ts";
import { createFaults } from "../lab/faults/rules.ts";
import { createProbeDesk } from "../lab/proxy-check/probe-desk.ts";
import type { FollowOptions } from "../lab/scenario/follow-scenario.ts";
import { builtAsApplied, storePeople } from "../lab/scenario/scenario.ts";
import {
  createRecordings,
  listenRecording,
  modeOf,
  offlineBy,
  overOwnSocket,
} from "../lab/tapes/record/recordings.ts";
import { createReplaying, missWays } from "../lab/tapes/replay/replaying.ts";
import { EndedProjects } from "../lab/test-projects/ended-projects.ts";
import type { ResourceDesk } from "../service/api-frame/desk.ts";
import { createThrottle, noThrottle } from "../service/api-frame/desk.ts";
import { createCallOwners } from "../service/capture/call-owner.ts";
import type { Desk } from "../service/capture/desk.ts";
import { captureEndpoints } from "../service/capture/endpoint/capture.ts";
import { createPlaces } from "../service/capture/geo/places.ts";
import { createVisitors } from "../service/capture/visitors.ts";
import { createKeyring } from "../state/documents/keyring.ts";
import { eventReader } from "../state/journal/event-reader.ts";
import type { FeedAdmission } from "../state/journal/feed/open-feed.ts";
import { addressAt, isOpenAt, type SimAddress } from "./address.ts";
import { checkOptions, redactionOf } from "./check-options.ts";
import type { ControlPorts } from "./control-rows.ts";
import { createInfo } from "./info.ts";
import { journalTo, reportingProject } from "./journaling.ts";
import { late } from "./late.ts";
import { documented, lateRows, warmUp } from "./late-rows.ts";
import {
  applyOrExplain,
  listenOrExplain,
  loadOrExplain,
  lookupOrExplain,
  openOrExplain,
  startOfClock,
  tapesOrExplain,
} from "./opening.ts";
import { ownCalls } from "./own-calls.ts";
import { createResetting } from "./reset.ts";
import { captureAtStart, createScenarioTraffic } from "./scenario-traffic.ts";
import { answerRequest } from "./server/fetch.ts";
import { type ListenOptions, listen } from "./server/listener.ts";
import { createRefusals, summaryOf } from "./summary.ts";
import type { SimOptions, SimServer } from "./types.ts";
import { adopt, unknownPath } from "./unknown.ts";

/**
 * Starts a sim: its parts in the order in which they need each other. It installs no signal handlers and keeps no
 * global state.
 * @throws StartError
 */
export async function runSim(given: SimOptions): Promise<SimServer> {
  checkOptions(given);
  const options = { ...given, mode: await tapesOrExplain(modeOf(given)) };
  const redaction = redactionOf(options);
  const host = options.host ?? "127.0.0.1";
  const isOpen = isOpenAt(host, options.publicUrl);
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl);
  const controlToken = options.token ?? (isOpen ? randomBytes(16).toString("hex") : null);
  const rules: GuardRules = { token: controlToken, publicUrl };
  const notice = (text: string) => options.onNotice?.(maskKeys(text));

  // What the sim stands on: scenario, clock, store.
  const scenario = await loadOrExplain(options, notice);
  const dialect = options.dialect ?? scenario.current.dialect ?? "documented";
  const lookup = await lookupOrExplain(options.geoip, notice);
  const clockStart = startOfClock(options.clock ?? scenario.current.clock);
  const clock = createClock(clockStart);
  const ids = randomIds(clock);
  const gauge = createGauge();
  // Node's own, also where a test environment (happy-dom) has replaced the global one; Bun has none
  const ending = util.transferableAbortController?.() ?? new AbortController();
  const lateApp = late<ObservingApp>("the app");
  const traffic = createScenarioTraffic({
    scenario,
    folder: options.data,
    clock,
    app: lateApp,
    projectByKey: (key) => worlds.projectByKey(key),
    closing: ending.signal,
    notice,
  });
  const store = await openOrExplain(options, scenario, clock.now, notice, traffic.expect);
  const { worlds, people, log } = store;
  const newProjects = await applyOrExplain(options, scenario, store, notice);
  const onRefusal = createRefusals({ folder: store.folder, notice });
  const kept = options.clock === undefined ? store.clock?.read() : undefined;
  if (kept) clock.resume(kept.setting);
  const agenda = createAgenda(
    clock,
    (error) =>
      storageTrouble(error) === undefined
        ? notice(`what was due failed: ${stackOf(error)}`)
        : onRefusal(error),
    store.clock?.keep,
  );

  // Made below, and needed by parts before them once calls come in.
  const lateRouter = late<Router>("the router");
  const lateAddress = late<SimAddress>("the address");
  const lateSend = late<Send>("the door for calls of its own");
  const lateAdoption = late<() => boolean>("the rule for unknown keys");
  const lateAdmission = late<Loaded<FeedAdmission>>("the live feed");

  // Whose a call is, and what handlers may use.
  const geoip = createPlaces({ rows: () => worlds.current.geoip, lookup });
  const keys = createKeyring(worlds, isOpen ? `_${randomBytes(16).toString("hex")}` : undefined);
  const projectFor = (token: string) =>
    worlds.projectByKey(token) ??
    (lateAdoption()() ? adopt({ worlds, ids, clock }, token, notice) : undefined);
  const underway: Desk["underway"] = new Map();
  const projectsMade = createBus<{ id: number; name: string | null }>();
  const { seen } = log;
  const visitors = createVisitors();
  const desk: Desk = {
    ...{ worlds, people, clock, ids, dialect, keys, geoip, projectFor, seen, visitors, underway },
  };
  const owners = createCallOwners(desk);

  // What can answer instead of the handlers.
  const faults = createFaults({ clock, onChange: notice });
  faults.replace(scenario.current.faults ?? []);
  const answers = createAnswers();
  const replaying = createReplaying({
    redaction,
    owner: (call, family) => owners.owner(call, family, true),
    notice,
    ...missWays(options, redaction, ending.signal, () => lateAddress().port, notice),
  });
  const recordings = createRecordings({
    redaction,
    app: lateApp,
    clock,
    gauge,
    notice,
    knows: async (path) => (lateRouter().exact(path) ?? (await lateRouter().search(path))) !== undefined,
    offline: offlineBy(options),
    folders: [process.cwd(), ...(store.folder === null ? [] : [store.folder])],
    ...(options.upstreamCa !== undefined && { upstreamCa: options.upstreamCa }),
  });
  // What was recorded has keys of another world.
  lateAdoption.set(() => options.adoptTokens === true || replaying.active || recordings.isOn);
  await tapesOrExplain(replaying.loadOwn(options), store);

  const probes = createProbeDesk();
  const ended = new EndedProjects();

  // What the control API and the management API use.
  const exports = onFirstUse(() =>
    import("../service/batch-exports/open-exports.ts").then((it) =>
      it.openExports(desk, store, agenda, kept?.seen),
    ),
  );
  const wakeExports = () => {
    if (worlds.current.batch_exports.length > 0)
      void exports()
        .then(({ engine }) => engine.follow())
        .catch(onRefusal);
  };
  const state = { scenario, store, clock, clockStart, agenda, faults, replaying, traffic };
  const { settled, reset } = createResetting({ ...state, underway, answers, exports });
  const { facts, info } = createInfo({
    ...state,
    options,
    controlToken,
    dialect,
    keys,
    recordings,
    gauge,
    address: lateAddress,
  });
  const queries = onFirstUse(() =>
    import("../service/query/open-queries.ts").then((it) =>
      it.openQueries({
        ...{ log, people, worlds, clock, closing: ending.signal },
        timeout: options.queryTimeout,
      }),
    ),
  );
  const resourceDesk: Omit<ResourceDesk, "exports" | "queries"> = {
    ...desk,
    people,
    events: eventReader(log),
    throttle: options.rateLimits ? createThrottle(clock) : noThrottle,
  };
  const controlPorts: Omit<ControlPorts, "flagBook" | "exports" | "queries" | "dropOffs" | "resources"> = {
    ...desk,
    feed: async () => (await lateAdmission()()).feed,
    faults,
    answers,
    tapes: replaying,
    recordings,
    probes,
    ended,
    address: () => lateAddress(),
    worlds,
    people,
    log,
    gauge,
    inspectable: options.reportLinks === true,
    // a captured event names the file, so its lines are only for the developer at this machine
    sourceFolder: isOpen ? null : process.cwd(),
    notice,
    onProject: projectsMade.publish,
    stop: options.onStop,
    closing: ending.signal,
    endpoints: () => documented(lateRouter()),
    info,
    traffic,
    reset,
    scenarioWorld: () => builtAsApplied(scenario).world,
    seedPeople: (project) => storePeople(people, builtAsApplied(scenario).people, project),
    scenarioPeople: () => builtAsApplied(scenario).people,
    clock,
    agenda,
    clockStart,
    switchTo: store.switchTo,
    settled,
    snapshots: store.snapshots,
    send: (outgoing) => lateSend()(outgoing),
    redaction,
  };
  const admission = lateAdmission.set(
    onFirstUse(async () => {
      const [{ openFeed }, { factsForFeed }] = await Promise.all([
        import("../state/journal/feed/open-feed.ts"),
        import("./stat.ts"),
      ]);
      const { damage } = store;
      const parts = { clock, faults, gauge, people, tapes: replaying, recordings, worlds, scenario, damage };
      const facts = () => factsForFeed(parts);
      return openFeed({ log, clock, closing: ending.signal, facts, notice }, rules);
    }),
  );

  // The core: from calls to replies.
  const router = lateRouter.set(
    createRouter(
      captureEndpoints(desk, (call) => mayVisit(call, rules)),
      lateRows({ desk, resourceDesk, controlPorts, rules, exportsOf: exports, queriesOf: queries }),
    ),
  );
  const scripted = answerPort(answers, owners);
  const broken = faultPort(faults, ending.signal, owners.owner);
  const app = lateApp.set(
    createApp({
      router,
      identify: owners.identify,
      journal: journalTo({ desk, owners, gauge, log }),
      faults: reportingProject(overlaid(eitherPort(scripted, broken), replaying.port), gauge, owners.owner),
      probes,
      unknownPath: (call, endpoints) => unknownPath(call, endpoints, options.strict === true),
      onRefusal,
      onCrash: (error, call) => notice(`a bug in phx-sim at ${call.method} ${call.path}: ${stackOf(error)}`),
    }),
  );

  await captureAtStart(traffic, { reset, notice, isFresh: options.fresh === true, newProjects }).catch(
    async (error: unknown) => {
      await store.close();
      throw error;
    },
  );

  // The door, and what starts with it.
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
    () => tapesOrExplain(listenRecording(recordings, options, () => listen(listenOptions))),
    options,
    store,
  ).catch(async (error: unknown) => {
    await replaying.close();
    throw error;
  });
  const { url, shownUrl } = lateAddress.set(addressAt(host, listener.port, publicUrl));
  store.announce({ ...facts(), control_token: controlToken });
  const following = follow(options, {
    source: scenario.source,
    scenario,
    worlds,
    people,
    log,
    switchTo: store.switchTo,
    faults,
    notice,
    onApplied(projects) {
      wakeExports();
      void traffic.inTurn(() => traffic.captureOf(projects)).catch(onRefusal);
    },
  });
  const endWarmUp = warmUp(router, wakeExports);

  async function end(): Promise<void> {
    try {
      await listener.close();
      await recordings.stop();
      await replaying.close();
      await endWarmUp();
      await (await following)?.close();
      await (await exports.started)?.close();
    } finally {
      await store.close();
    }
  }

  let closing: Promise<void> | undefined;
  const close = () => {
    ending.abort();
    agenda.close();
    closing ??= end();
    return closing;
  };
  const send = lateSend.set(ownCalls({ app, clock, url, publicUrl, closing: ending.signal }));
  return {
    ...accessOf(url, facts()),
    send,
    close,
    dialect,
    data: store.folder,
    controlToken,
    publicUrl: shownUrl,
    version,
    endpoints: () => documented(router),
    handle: (request) =>
      recordings.current === undefined
        ? answerRequest(request, { app, clock, gauge, closing: ending.signal })
        : overOwnSocket(request, url),
    recorded: recordings.facts,
    isReplaying: () => replaying.active,
    onRequest: (listen) => log.subscribe((written) => listen(summaryOf(written, worlds.projectById))),
    onLine: (listen) =>
      log.subscribe(({ n }) => {
        const line = log.line(n);
        if (line) listen(line);
      }),
    onProject: projectsMade.subscribe,
  };
}

/** Follows the scenario's files, if the options ask for it. */
async function follow(
  { onChange: mode = "ignore" }: SimOptions,
  parts: Omit<FollowOptions, "mode">,
): Promise<{ close(): Promise<void> } | undefined> {
  if (mode === "ignore" || parts.source === "default") return undefined;
  try {
    const { followScenario } = await import("../lab/scenario/follow-scenario.ts");
    return await followScenario({ ...parts, mode });
  } catch (error) {
    parts.notice(`the scenario cannot be followed: ${stackOf(error)}`);
    return undefined;
  }
}
