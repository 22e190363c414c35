import { hostRuleFor, isLoopbackHost, readHostRule, serviceHosts } from "../../kernel/http/host-rules.ts";
import {
  type Attempt,
  createTrail,
  currentTest,
  type Exit,
  type Gate,
  type Place,
  type RunningTest,
} from "./attempt.ts";
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
import { isReroutedNow, reroutedHosts, rerouteVariable } from "./reroute.ts";

/**
 * Guards this process, without its worker threads and children: connections to guarded hosts fail at once with an
 * `EgressError` that names the call, and are recorded. Requests that another tool answers in process (msw, nock, a
 * stubbed `fetch`) do not count: they never reach a connection. An SDK's `fetch` is answered with 403 instead: it would
 * retry after an error.
 * @param url The sim's address, for the advice.
 * @param onBlocked Called for every call that is kept.
 * @throws TypeError when a host cannot be read
 */
export function guardProcess(
  { url, test, ...options }: GuardOptions & { url: string; test?: RunningTest },
  onBlocked?: (call: BlockedCall) => void,
): Guard {
  const calls: BlockedCall[] = [];
  let reported = 0;
  const close = watch({
    test,
    refuses: placeTest(options),
    record({ method, url: target, place, stack, test: by }) {
      const call: BlockedCall = { method, url: target, host: place.host, at: new Date().toISOString(), stack };
      if (by) call.test = by.name;
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

/** PostHog's hosts, given ones, what looks like an SDK's request. @throws TypeError when a host cannot be read */
export function placeTest({ hosts = [], allow = [] }: GuardOptions): (place: Place) => boolean {
  const guarded = [...serviceHosts, ...hosts].map(readHostRule);
  // rerouted calls do not leave
  const { [rerouteVariable]: routes } = process.env;
  const rerouted = routes ? reroutedHosts(JSON.parse(routes)) : [];
  const allowed = [...allow, ...rerouted].map(readHostRule);
  return (place) =>
    (place.isOfSdk === true || hostRuleFor(guarded, place) !== undefined) &&
    !isLoopbackHost(place.host) &&
    hostRuleFor(allowed, place) === undefined;
}

interface Watcher {
  /** Of one test: it records the calls of that test's code. */
  readonly test: RunningTest | undefined;
  refuses(place: Place): boolean;
  record(attempt: Attempt): EgressError;
}

/**
 * The ways out belong to the process, and so does the list of their watchers: each of several open guards must record a
 * call, in whatever order they begin and end.
 */
const watchers = new Set<Watcher>();
let uninstall: (() => void) | undefined;

/** The guards that refuse a call: of no test, and of the call's test; of the first test if its own is unknown or over. */
function refusingOf({ place, test }: Attempt): Watcher[] {
  const isOpen = test !== undefined && [...watchers].some((it) => it.test === test);
  const refusing = [...watchers].filter((it) => it.refuses(place) && (!isOpen || !it.test || it.test === test));
  const first = refusing.find((it) => it.test);
  return refusing.filter((it) => !it.test || it === first);
}

const gate: Gate = {
  concerns: (place) => !isReroutedNow(place, currentTest()) && [...watchers].some((it) => it.refuses(place)),
  refuse(attempt) {
    if (isReroutedNow(attempt.place, attempt.test)) return undefined;
    const [error] = refusingOf(attempt).map((it) => it.record(attempt));
    if (error) attempt.refusal = error;
    return error;
  },
};

function install(): () => void {
  const trail = createTrail();
  const exits: readonly Exit[] = [socketExit(trail), ...httpExits(trail), ...fetchExits(trail)];
  const ends = exits.map((exit) => exit(gate));
  return () => {
    for (const end of ends) end();
    trail.end();
  };
}

function watch(watcher: Watcher): () => void {
  watchers.add(watcher);
  uninstall ??= install();
  return () => {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}
