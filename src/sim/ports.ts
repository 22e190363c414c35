import { type Loaded, onFirstUse } from "../kernel/base/on-first-use.ts";
import type { Send } from "../kernel/call/call.ts";
import type { Call } from "../kernel/http/call.ts";
import { mayVisit } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import type { Router } from "../kernel/http/router.ts";
import type { ProbeDesk } from "../lab/proxy-check/probe-desk.ts";
import { builtAsApplied, storePersons } from "../lab/scenario/scenario.ts";
import { EndedProjects } from "../lab/test-projects/ended-projects.ts";
import type { ProjectPorts } from "../lab/test-projects/ports.ts";
import { createThrottle, noThrottle } from "../service/api-frame/desk.ts";
import type { RunningExports } from "../service/batch-exports/open-exports.ts";
import type { Desk } from "../service/capture/desk.ts";
import type { ManagementDesk } from "../service/management/desk.ts";
import { eventReader } from "../state/journal/event-reader.ts";
import type { Feed } from "../state/journal/feed/feed.ts";
import type { SimAddress } from "./address.ts";
import type { Foundation, SimSettings } from "./foundation.ts";
import type { SimInfo } from "./info.ts";
import type { Resetting } from "./reset.ts";
import type { Substitutes } from "./substitutes.ts";

type GivenPorts = Pick<Resetting, "settled" | "reset"> &
  Pick<SimInfo, "info"> &
  Pick<ProjectPorts, "onProject"> & {
    probes: ProbeDesk;
    address(): SimAddress;
    feed(): Promise<Feed>;
    endpoints(): Promise<readonly Endpoint[]>;
    send: Send;
  };

export type ReadyPorts = ReturnType<typeof readyPorts>;
export type OpenedPorts = ReturnType<typeof openedPorts>;

export type SlicePorts = ReadyPorts & {
  readonly [Name in keyof OpenedPorts]: Awaited<ReturnType<OpenedPorts[Name]>>;
};

export function readyPorts(
  { options, isOpen, rules, notice, redaction }: SimSettings,
  { scenario, clock, clockStart, agenda, gauge, traffic, ending, store }: Foundation,
  desk: Desk,
  { faults, answers, replaying, recordings }: Substitutes,
  given: GivenPorts,
) {
  const { worlds, people, log, snapshots, switchTo } = store;
  const built = () => builtAsApplied(scenario);
  const closing: AbortSignal = ending.signal;
  return {
    ...desk,
    ...given,
    desk,
    mayVisit: (call: Call) => mayVisit(call, rules),
    worlds,
    people,
    log,
    snapshots,
    switchTo,
    authored: {
      world: () => built().world,
      people: () => built().people,
      seedPersons: (project: number) => storePersons(people, built().people, project),
    },
    clock,
    clockStart,
    agenda,
    gauge,
    traffic,
    faults,
    answers,
    tapes: replaying,
    recordings,
    redaction,
    ended: new EndedProjects(),
    inspectable: options.reportLinks === true,
    // a captured event names the file, so its lines are only for the developer at this machine
    sourceFolder: isOpen ? null : process.cwd(),
    notice,
    stop: options.onStop,
    closing,
  };
}

/** Ports that are opened when a slice needs them. */
export function openedPorts({ options }: SimSettings, ready: ReadyPorts, exports: Loaded<RunningExports>) {
  const { desk, log, people, worlds, clock, closing } = ready;
  const running = onFirstUse(async () => {
    const { openQueries } = await import("../service/query/open-queries.ts");
    return openQueries({ log, people, worlds, clock, closing, timeout: options.queryTimeout });
  });
  return {
    exports,
    asserting: onFirstUse(async () => (await import("../lab/assert/open-assertions.ts")).openAssertions(ready)),
    queries: async () => (await running()).queries,
    dropOffs: async () => (await running()).dropOffs,
    rulesets: onFirstUse(async () => {
      const { createRulesets } = await import("../service/flags/rulesets.ts");
      return createRulesets(desk);
    }),
    decisions: onFirstUse(async () => {
      const { createDecisionIndex } = await import("../service/flags/decision-index.ts");
      return createDecisionIndex(log);
    }),
    resources: onFirstUse(
      async (): Promise<ManagementDesk> => ({
        ...desk,
        people,
        events: eventReader(log),
        throttle: options.rateLimits ? createThrottle(clock) : noThrottle,
        exports: (await exports()).engine,
        queries: (await running()).queries,
      }),
    ),
  };
}

/** The rows with their docs; those of the public endpoints are loaded only for this. */
export async function documented(router: Router): Promise<readonly Endpoint[]> {
  const { withIngestionDocs } = await import("./public-docs.ts");
  return withIngestionDocs(await router.endpoints());
}
