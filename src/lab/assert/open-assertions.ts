import { setMaxListeners } from "node:events";
import { createDispatcher } from "./dispatcher.ts";
import { reportEnded } from "./ended-keys.ts";
import { createLateEvents } from "./late-events.ts";
import type { AssertPorts, SimPorts } from "./ports.ts";
import { createRecentRequests } from "./recent-requests.ts";

export function openAssertions(sim: SimPorts): AssertPorts {
  const { log, worlds, gauge, clock, faults, ended, closing, inspectable } = sim;
  reportEnded(sim);
  // every wait listens to it
  setMaxListeners(0, closing);
  const dispatcher = createDispatcher(log);
  const lateEvents = createLateEvents(dispatcher, (text) => sim.notice(text));
  return {
    log,
    worlds,
    gauge,
    clock,
    faults,
    ended,
    closing,
    inspectable,
    dispatcher,
    lateEvents,
    recent: createRecentRequests(log),
  };
}
