import { AsyncLocalStorage } from "node:async_hooks";
import { spelledOut } from "../kernel/base/text.ts";
import { knowTests, type RunningTest } from "../lab/egress/attempt.ts";
import {
  type BlockedCall,
  blockedCauses,
  callsError,
  type Guard,
  type GuardOptions,
} from "../lab/egress/blocked-call.ts";
import { guardProcess } from "../lab/egress/guard.ts";
import { rerouteProcess } from "../lab/egress/reroute.ts";

/**
 * What happens to calls to the real service. True: they are blocked, and fail the test; options name hosts. `"reroute"`
 * sends them to the test's project. False allows them.
 */
export type GuardSetting = boolean | "reroute" | (GuardOptions & { reroute?: boolean });

export const optionsOf = (setting: GuardSetting): GuardOptions => {
  if (setting === false) return { allow: ["*"] };
  if (typeof setting !== "object") return {};
  const { reroute: _, ...options } = setting;
  return options;
};

export const isReroute = (setting: GuardSetting): boolean =>
  setting === "reroute" || (typeof setting === "object" && setting.reroute === true);

/**
 * Sends the calls for PostHog's hosts, and for the setting's, to a project of the sim. The function that it returns ends it.
 * @throws TypeError when a host cannot be read, or has a path
 */
export function rerouteTo(
  { url, projectId }: { readonly url: string; readonly projectId: number },
  setting: GuardSetting,
  test: RunningTest | undefined,
): () => void {
  const { hosts = [] } = optionsOf(setting);
  return rerouteProcess({ url, hosts }, { project: projectId, test });
}

interface GuardedTest extends RunningTest {
  /** Sends its calls for PostHog's hosts to this project until it ends. */
  reroute(projectId: number): void;
  causes(): readonly string[];
  /** The code that runs from here on is the test's, as with `begin`. */
  enter(): void;
  /** @throws EgressError if calls of its code were blocked, or calls that no running test's code made */
  end(): void;
}

/** Throws without frames: the places of the calls are in the message. */
export function refuse(calls: readonly BlockedCall[], url: string, by?: string): void {
  if (calls.length === 0) return;
  const error = callsError(calls, url, by);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}

export function createWorkerGuard() {
  const running = new Set<RunningTest>();
  const storage = new AsyncLocalStorage<RunningTest>();
  knowTests({ current: () => storage.getStore(), isRunning: (it) => running.has(it) });
  /** The guard of the last test stays until the next one begins: SDKs flush after a test. */
  let last: { guard: Guard; url: string } | undefined;

  function takeLast(): readonly BlockedCall[] {
    const calls = last?.guard.calls() ?? [];
    last?.guard.close();
    last = undefined;
    return calls;
  }

  return {
    /** Guards the code that runs from here on as a test's. Call it before the first `await` of a fixture. */
    begin(url: string, setting: GuardSetting, name: string) {
      const late = takeLast();
      let endReroute: (() => void) | undefined;
      const test: GuardedTest = {
        name,
        enter: () => storage.enterWith(test),
        reroute(projectId) {
          endReroute = rerouteTo({ url, projectId }, setting, test);
        },
        causes: () => blockedCauses(guard.calls(), url),
        end() {
          endReroute?.();
          running.delete(test);
          const calls = [...late, ...guard.calls()];
          guard.clear();
          if (running.size > 0) guard.close();
          else last = { guard, url };
          refuse(calls, url, name);
        },
      };
      running.add(test);
      const guard = guardProcess({ ...optionsOf(setting), url, test });
      test.enter();
      return test;
    },
    /** @throws EgressError if there were calls after the last test */
    close() {
      const { url = "" } = last ?? {};
      refuse(takeLast(), url);
    },
  };
}

export const printNotice = (text: string): void => {
  process.stderr.write(`phx-sim: ${spelledOut(text)}\n`);
};

const longestName = 200;

export const projectName = (title: string): string => title.slice(0, longestName);
