import { callsError } from "../guard/errors.ts";
import { guardProcess } from "../guard/guard.ts";
import type { BlockedCall, Guard, GuardOptions } from "../guard/types.ts";

/** Whether calls to the real service are blocked, and fail the test: false allows them; options name hosts. */
export type GuardSetting = boolean | GuardOptions;

/** Guards the tests of one process. Tests that run at the same time each report the calls of all of them. */
export interface WorkerGuard {
  /** Guards a test; the function that it returns ends it. That one throws an EgressError that names the calls. */
  begin(url: string, setting: GuardSetting): () => void;
  /** @throws EgressError when there were calls after the last test */
  close(): void;
}

/** The calls' own places are in the message; frames of a fixture would hide them. */
function refuse(calls: readonly BlockedCall[], url: string): void {
  if (calls.length === 0) return;
  const error = callsError(calls, url);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}

export function createWorkerGuard(): WorkerGuard {
  const running = new Set<object>();
  /** Of the last test: SDKs send what they hold after it, so it guards until the next test begins. */
  let last: { guard: Guard; url: string } | undefined;

  function takeLast(): readonly BlockedCall[] {
    const calls = last?.guard.calls() ?? [];
    last?.guard.close();
    last = undefined;
    return calls;
  }

  return {
    begin(url, setting) {
      const late = takeLast();
      const test = {};
      running.add(test);
      const guard = setting === false ? undefined : guardProcess({ ...(setting !== true && setting), url });
      return () => {
        running.delete(test);
        const calls = [...late, ...(guard?.calls() ?? [])];
        guard?.clear();
        if (running.size > 0) guard?.close();
        else if (guard) last = { guard, url };
        refuse(calls, url);
      };
    },
    close() {
      const { url = "" } = last ?? {};
      refuse(takeLast(), url);
    },
  };
}
