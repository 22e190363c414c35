import {
  hostRuleFor,
  isLoopbackHost,
  type RequestTarget,
  readHostRule,
  serviceHosts,
} from "../http/host-rules.ts";
import { type Attempt, createTrail, type Exit, type Gate } from "./attempt.ts";
import {
  type BlockedCall,
  blockedError,
  callsError,
  callsKept,
  type EgressError,
  type Guard,
  type GuardOptions,
} from "./blocked-call.ts";
import { fetchExits, httpExits, socketExit } from "./process-exits.ts";
import { reroutedHosts, rerouteVariable } from "./reroute.ts";

/**
 * Guards this process, without its worker threads and children: connections to guarded hosts fail at once with an
 * `EgressError` that names the call, and are recorded. Requests that another tool answers in process (msw, nock, a
 * stubbed `fetch`) do not count: they never reach a connection.
 * @param url The sim's address, for the advice.
 * @param onBlocked Called for every call that is kept.
 * @throws TypeError when a host cannot be read
 */
export function guardProcess(
  { url, ...options }: GuardOptions & { url: string },
  onBlocked?: (call: BlockedCall) => void,
): Guard {
  const calls: BlockedCall[] = [];
  let reported = 0;
  const close = watch({
    refuses: placeTest(options),
    record({ method, url: target, place, stack }) {
      const call = { method, url: target, host: place.host, at: new Date().toISOString(), stack };
      if (calls.length < callsKept) {
        calls.push(call);
        onBlocked?.(call);
      }
      return blockedError(call, url);
    },
  });
  const verify = () => {
    reported = calls.length;
    if (calls.length > 0) throw callsError(calls.slice(), url);
  };
  const leave = () => {
    close();
    if (calls.length > reported) verify();
  };
  return {
    calls: () => calls.slice(),
    verify,
    clear() {
      calls.length = 0;
      reported = 0;
    },
    close,
    [Symbol.dispose]: leave,
    [Symbol.asyncDispose]: async () => leave(),
  };
}

/**
 * A test for whether a place is guarded.
 * @throws TypeError when a host cannot be read
 */
export function placeTest({ hosts = [], allow = [] }: GuardOptions): (place: RequestTarget) => boolean {
  const guarded = [...serviceHosts, ...hosts].map(readHostRule);
  // rerouted calls do not leave
  const { [rerouteVariable]: routes } = process.env;
  const rerouted = routes ? reroutedHosts(JSON.parse(routes)) : [];
  const allowed = [...allow, ...rerouted].map(readHostRule);
  return (place) =>
    hostRuleFor(guarded, place) !== undefined &&
    !isLoopbackHost(place.host) &&
    hostRuleFor(allowed, place) === undefined;
}

/** One guard, as the process sees it. */
interface Watcher {
  refuses(place: RequestTarget): boolean;
  /** Records the call and returns the error that it must fail with. */
  record(attempt: Attempt): EgressError;
}

/**
 * The ways out belong to the process, and so does the list of their watchers: each of several open guards must
 * record a call, in whatever order they begin and end.
 */
const watchers = new Set<Watcher>();
let uninstall: (() => void) | undefined;

const gate: Gate = {
  concerns: (place) => [...watchers].some((it) => it.refuses(place)),
  refuse: (attempt) =>
    [...watchers].filter((it) => it.refuses(attempt.place)).map((it) => it.record(attempt))[0],
};

function install(): () => void {
  const trail = createTrail();
  const exits: readonly Exit[] = [socketExit(trail), ...httpExits(trail), ...fetchExits(trail)];
  const ends = exits.map((exit) => exit(gate));
  return () => {
    for (const end of ends) end();
  };
}

/** Watches every way out of the process until the function that it returns is called. */
function watch(watcher: Watcher): () => void {
  watchers.add(watcher);
  uninstall ??= install();
  return () => {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}
