import { spelledOut } from "../base/text.ts";
import { type BlockedCall, callsError, type Guard, type GuardOptions } from "../egress/blocked-call.ts";
import { guardProcess } from "../egress/guard.ts";

/** Whether calls to the real service are blocked, and fail the test: false allows them; options name hosts. */
export type GuardSetting = boolean | GuardOptions;

/** Guards the tests of one process. Tests that run at the same time each report the calls of all of them. */
interface WorkerGuard {
  /** Guards a test; the function that it returns ends that, and throws an EgressError if calls were blocked. */
  begin(url: string, setting: GuardSetting): () => void;
  /** @throws EgressError if there were calls after the last test */
  close(): void;
}

/** Throws without frames: the places of the calls are in the message. */
function refuse(calls: readonly BlockedCall[], url: string): void {
  if (calls.length === 0) return;
  const error = callsError(calls, url);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}

export function createWorkerGuard(): WorkerGuard {
  const running = new Set<object>();
  /** The guard of the last test stays until the next one begins: SDKs flush after a test. */
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

/** Prints what the user of a run's own sim should know. */
export const printNotice = (text: string): void => {
  process.stderr.write(`phx-sim: ${spelledOut(text)}\n`);
};

/** Longer titles are cut. */
const longestName = 200;

/** A test's title as the name of its project. */
export const projectName = (title: string): string => title.slice(0, longestName);
