import { blockedError, callsError } from "./errors.ts";
import { placeTest } from "./refuses.ts";
import { type BlockedCall, callsKept, type Guard, type GuardOptions } from "./types.ts";
import { watch } from "./watch.ts";

/**
 * Guards this process (its worker threads and children are not in it): connections to guarded hosts fail at once with
 * an `EgressError` that names the call, and are recorded. Requests which another tool answers in process (msw, nock,
 * a stubbed `fetch`) do not count: they never reach a connection.
 * @param url The sim's address, for the advice.
 * @param onBlocked Told of every call that is kept.
 * @throws TypeError when a host cannot be read
 */
export function guardProcess(
  { url, ...options }: GuardOptions & { url: string },
  onBlocked?: (call: BlockedCall) => void,
): Guard {
  const calls: BlockedCall[] = [];
  let told = 0;
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
    told = calls.length;
    if (calls.length > 0) throw callsError(calls.slice(), url);
  };
  const leave = () => {
    close();
    if (calls.length > told) verify();
  };
  return {
    calls: () => calls.slice(),
    verify,
    clear() {
      calls.length = 0;
      told = 0;
    },
    close,
    [Symbol.dispose]: leave,
    [Symbol.asyncDispose]: async () => leave(),
  };
}
