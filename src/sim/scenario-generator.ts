import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { TimeSource } from "../kernel/base/clock.ts";
import { writeDraft } from "../kernel/base/draft.ts";
import { performance } from "../kernel/base/real-time.ts";
import { counted } from "../kernel/base/text.ts";
import type { ObservingApp } from "../kernel/http/app.ts";
import { callFrom } from "../kernel/http/call.ts";
import { jsonText } from "../kernel/http/reply.ts";
import type { AuthoredTraffic } from "../lab/generate/shapes.ts";
import type { ScenarioState } from "../lab/scenario/applied.ts";
import type { Scenario } from "../lab/scenario/scenario.ts";
import type { StoredProject } from "../state/documents/world.ts";

interface GeneratorParts {
  readonly scenario: ScenarioState;
  readonly folder: string | undefined;
  readonly clock: TimeSource;
  readonly app: () => ObservingApp;
  projectByKey(key: string): StoredProject | undefined;
  readonly closing: AbortSignal;
  notice(text: string): void;
}

/** In the data folder while the traffic is being captured. */
const markerName = "traffic.unfinished";

const trafficOf = ({ organizations }: Scenario): { apiKey: string; traffic: AuthoredTraffic }[] =>
  organizations.flatMap(({ projects }) =>
    projects.flatMap(({ api_key: apiKey, traffic = [] }) => traffic.map((it) => ({ apiKey, traffic: it }))),
  );

const sender = ["content-type", "application/json", "user-agent", "phx-sim scenario"];
const headers = { "content-type": "application/json", "user-agent": "phx-sim scenario" };

/**
 * The traffic of the scenario. It is captured once into a new world, and after a reset of events: a restart finds the
 * events in the data folder. Requests go through the normal capture, and pass faults, tapes and upstreams by.
 */
export function createScenarioGenerator(parts: GeneratorParts) {
  const { scenario, folder, clock, app, projectByKey, closing, notice } = parts;
  const marker = folder === undefined ? undefined : join(folder, markerName);
  let isDue = false;
  let last: Promise<unknown> = Promise.resolve();

  async function send(body: string): Promise<void> {
    const call = callFrom({
      method: "POST",
      target: "/batch/",
      headers,
      rawHeaders: sender,
      body: Buffer.from(body),
      peer: "127.0.0.1",
      transport: "fetch",
      at: clock.now(),
      started: performance.now(),
      signal: () => closing,
    });
    const way = { isShadowed: () => true, rejection: undefined };
    await app().observe(call, jsonText('{"status":"Ok"}'), way);
  }

  /** @returns false if the sim closes */
  async function captureOne(project: StoredProject, authored: AuthoredTraffic): Promise<boolean> {
    const [{ EventGenerator, unusablePlan }, { planOf, settingOf }, { batchesOf }] = await Promise.all([
      import("../lab/generate/generate.ts"),
      import("../lab/generate/plan.ts"),
      import("../lab/generate/batches.ts"),
    ]);
    const now = clock.now();
    const plan = planOf(authored, settingOf(project, now));
    const unusable = unusablePlan(plan, now);
    if (unusable !== undefined) {
      notice(`the scenario's traffic is left out: ${unusable}`);
      return true;
    }
    let events = 0;
    for (const { body, count } of batchesOf(new EventGenerator(plan), project.api_key)) {
      if (closing.aborted) return false;
      await send(body);
      events += count;
      await turn();
    }
    const { persona, users, days } = plan;
    const who = `${counted(users, "user")} (${persona.name}, ${counted(days, "day")})`;
    notice(`the scenario's traffic is captured: ${counted(events, "event")} of ${who}`);
    return true;
  }

  const mark = () => {
    if (marker !== undefined) writeDraft(marker, "");
  };

  return {
    /** Notes that the world is about to be made: the traffic is due. @throws the system's error */
    expect(): void {
      isDue = trafficOf(scenario.current).length > 0;
      if (isDue) mark();
    },
    /** `due` in a new world; `interrupted`: an earlier process ended while it captured. */
    get state(): "none" | "due" | "interrupted" {
      if (isDue) return "due";
      return marker !== undefined && existsSync(marker) ? "interrupted" : "none";
    },
    async captureOf(projects: readonly number[]): Promise<void> {
      for (const project of projects) await this.capture(project);
    },
    async capture(project?: number): Promise<void> {
      const all = trafficOf(scenario.current);
      if (all.length > 0) mark();
      for (const { apiKey, traffic } of all) {
        const owner = projectByKey(apiKey);
        const isMeant = owner && (project === undefined || project === owner.id);
        if (isMeant && !(await captureOne(owner, traffic))) return;
      }
      isDue = false;
      if (marker !== undefined) rmSync(marker, { force: true });
    },
    /** Runs work that captures it; one begins when the last one has ended. */
    inTurn<T>(work: () => Promise<T>): Promise<T> {
      const done = last.then(work);
      last = done.catch(() => {});
      return done;
    },
    settled: async (): Promise<void> => void (await last),
  };
}
