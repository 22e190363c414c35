import { randomBytes } from "node:crypto";
import { createBus } from "../kernel/base/bus.ts";
import { stackOf } from "../kernel/base/errors.ts";
import { randomIds } from "../kernel/base/ids.ts";
import { onFirstUse } from "../kernel/base/on-first-use.ts";
import { version } from "../kernel/base/version.ts";
import { accessOf } from "../kernel/call/access.ts";
import { createApp, type ObservingApp } from "../kernel/http/app.ts";
import { delivering } from "../kernel/http/layer.ts";
import { Router } from "../kernel/http/router.ts";
import { rowsOf } from "../kernel/http/slice.ts";
import { faultLayer, scriptLayer } from "../lab/faults/layers.ts";
import { answeringProbes, createProbeDesk } from "../lab/proxy-check/probe-desk.ts";
import { listenRecording, overOwnSocket } from "../lab/tapes/record/recordings.ts";
import { type CallOwners, createCallOwners } from "../service/capture/call-owner.ts";
import type { Desk } from "../service/capture/desk.ts";
import { createPlaces } from "../service/capture/geo/places.ts";
import { createVisitors } from "../service/capture/visitors.ts";
import { createKeyring } from "../state/documents/keyring.ts";
import type { FeedAdmission } from "../state/journal/feed/open-feed.ts";
import { addressAt } from "./address.ts";
import { type Foundation, openFoundation, readSettings, type SimSettings } from "./foundation.ts";
import { createInfo } from "./info.ts";
import { journalTo, reportingProject } from "./journaling.ts";
import { lateParts } from "./late.ts";
import { listenOrExplain, tapesOrExplain } from "./opening.ts";
import { ownCalls } from "./own-calls.ts";
import { documented, openedPorts, readyPorts } from "./ports.ts";
import { createResetting } from "./reset.ts";
import { answerRequest } from "./server/fetch.ts";
import { type Listener, type ListenOptions, listen } from "./server/listener.ts";
import { lateRows, slicesAtStart, warmUp } from "./slices.ts";
import { openSubstitutes, type Substitutes } from "./substitutes.ts";
import { summaryOf } from "./summary.ts";
import type { SimOptions, SimServer } from "./types.ts";
import { adopt, unknownPath } from "./unknown.ts";

/** Starts a sim, its parts in the order of their needs; no signal handlers, no global state. @throws StartError */
export async function runSim(given: SimOptions): Promise<SimServer> {
  const settings = await readSettings(given);
  const { host, publicUrl, controlToken, rules } = settings;
  const late = lateParts();
  const foundation = await openFoundation(settings, late.app);
  const { clock, gauge, traffic, ending, store, onRefusal } = foundation;
  const { worlds, log } = store;
  const desk = createDesk(settings, foundation, () => late.adopts()());
  const owners = createCallOwners(desk);
  const substitutes = await openSubstitutes(settings, foundation, owners, late);
  const { faults, replaying, recordings } = substitutes;
  const { exports, wakeExports } = exportsOf(desk, foundation);
  const admission = feedAdmission(settings, foundation, substitutes);

  const { facts, info } = createInfo(settings, foundation, desk, substitutes, late.address);
  const { settled, reset, captureAtStart } = createResetting(settings, foundation, desk, substitutes, exports);
  const projectsMade = createBus<{ id: number; name: string | null }>();
  const probes = createProbeDesk();
  const ready = readyPorts(settings, foundation, desk, substitutes, {
    probes,
    info,
    settled,
    reset,
    address: late.address,
    onProject: projectsMade.publish,
    feed: async () => (await admission()).feed,
    endpoints: () => documented(late.router()),
    send: (outgoing) => late.send()(outgoing),
  });
  const opened = openedPorts(settings, ready, exports);
  const router = late.router.set(new Router(rowsOf(slicesAtStart, ready), lateRows(ready, opened, rules)));

  const core = coreOf(settings, foundation, substitutes, { desk, owners, router });
  const app = late.app.set(answeringProbes(core, probes));

  await captureAtStart().catch(async (error: unknown) => {
    await store.close();
    throw error;
  });

  const listener = await openListener(settings, foundation, substitutes, { app, admission });
  const { url, shownUrl } = late.address.set(addressAt(host, listener.port, publicUrl));
  store.announce({ ...facts(), control_token: controlToken });
  const following = follow(settings, foundation, faults, (projects) => {
    wakeExports();
    void traffic.inTurn(() => traffic.captureOf(projects)).catch(onRefusal);
  });
  const endWarmUp = warmUp(router, wakeExports);
  const close = closing(foundation, async () => {
    await listener.close();
    await recordings.stop();
    await replaying.close();
    await endWarmUp();
    await (await following)?.close();
    await (await exports.started)?.close();
  });
  const send = late.send.set(ownCalls({ app, clock, url, publicUrl, closing: ending.signal }));
  return {
    ...accessOf(url, facts()),
    send,
    close,
    dialect: desk.dialect,
    data: store.folder,
    controlToken,
    publicUrl: shownUrl,
    version,
    endpoints: ready.endpoints,
    handle: (request) =>
      recordings.current === undefined
        ? answerRequest(request, { app, clock, gauge, closing: ending.signal })
        : overOwnSocket(request, url),
    recorded: () => recordings.facts(),
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

function createDesk({ options, isOpen, notice }: SimSettings, foundation: Foundation, adopts: () => boolean): Desk {
  const { scenario, lookup, clock, store } = foundation;
  const { worlds, people, log } = store;
  const ids = randomIds(clock);
  return {
    worlds,
    people,
    clock,
    ids,
    dialect: options.dialect ?? scenario.current.dialect ?? "documented",
    keys: createKeyring(worlds, isOpen ? `_${randomBytes(16).toString("hex")}` : undefined),
    geoip: createPlaces({ rows: () => worlds.current.geoip, lookup }),
    projectFor: (token) =>
      worlds.projectByKey(token) ?? (adopts() ? adopt({ worlds, ids, clock }, token, notice) : undefined),
    seen: (project, uuid) => log.seen(project, uuid),
    visitors: createVisitors(),
    underway: new Map(),
  };
}

function exportsOf(desk: Desk, { store, agenda, lastSeen, onRefusal }: Foundation) {
  const exports = onFirstUse(async () => {
    const { openExports } = await import("../service/batch-exports/open-exports.ts");
    return openExports(desk, store, agenda, lastSeen);
  });
  const wakeExports = () => {
    if (store.worlds.current.batch_exports.length > 0)
      void exports()
        .then(({ engine }) => engine.follow())
        .catch(onRefusal);
  };
  return { exports, wakeExports };
}

function coreOf(
  { options, notice }: SimSettings,
  { gauge, ending, store, onRefusal }: Foundation,
  { faults, answers, replaying }: Substitutes,
  { desk, owners, router }: { desk: Desk; owners: CallOwners; router: Router },
): ObservingApp {
  const { identify } = owners;
  return createApp({
    router,
    identify,
    journal: journalTo({ desk, owners, gauge, log: store.log }),
    layers: [
      scriptLayer(answers, owners),
      faultLayer(faults, owners),
      replaying.layer,
      delivering({ identify, closing: ending.signal, onWait: reportingProject(gauge, owners) }),
    ],
    unknownPath: (call, endpoints) => unknownPath(call, endpoints, options.strict === true),
    onRefusal,
    onCrash: (error, call) => notice(`a bug in phx-sim at ${call.method} ${call.path}: ${stackOf(error)}`),
  });
}

function closing({ ending, agenda, store }: Foundation, endParts: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined;
  return () => {
    ending.abort();
    agenda.close();
    ended ??= endParts().finally(() => store.close());
    return ended;
  };
}

const feedAdmission = ({ rules, notice }: SimSettings, foundation: Foundation, substitutes: Substitutes) =>
  onFirstUse(async () => {
    const [{ openFeed }, { factsForFeed }] = await Promise.all([
      import("../state/journal/feed/open-feed.ts"),
      import("./stat.ts"),
    ]);
    const { clock, ending, store } = foundation;
    const facts = () => factsForFeed(foundation, substitutes);
    return openFeed({ log: store.log, clock, closing: ending.signal, facts, notice }, rules);
  });

/** @throws StartError */
function openListener(
  { options, host, publicUrl, notice }: SimSettings,
  { clock, gauge, store }: Foundation,
  { replaying, recordings }: Substitutes,
  { app, admission }: { app: ObservingApp; admission: () => Promise<FeedAdmission> },
): Promise<Listener> {
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
  return listenOrExplain(
    () => tapesOrExplain(listenRecording(recordings, options, () => listen(listenOptions))),
    options,
    store,
  ).catch(async (error: unknown) => {
    await replaying.close();
    throw error;
  });
}

async function follow(
  { options: { onChange: mode = "ignore" }, notice }: SimSettings,
  { scenario, store: { worlds, people, log, switchTo } }: Foundation,
  faults: Substitutes["faults"],
  onApplied: (projects: readonly number[]) => void,
): Promise<{ close(): Promise<void> } | undefined> {
  const { source } = scenario;
  if (mode === "ignore" || source === "default") return undefined;
  try {
    const { followScenario } = await import("../lab/scenario/follow-scenario.ts");
    return await followScenario({
      ...{ source, mode, scenario, worlds, people, log, switchTo, faults, notice, onApplied },
    });
  } catch (error) {
    notice(`the scenario cannot be followed: ${stackOf(error)}`);
    return undefined;
  }
}
