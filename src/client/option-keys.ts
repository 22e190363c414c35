import { describePattern } from "../assert/match/describe.ts";
import type { Terms } from "../assert/match/types.ts";
import { isObject } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import type { GuardOptions } from "../egress/blocked-call.ts";
import type { ExportRunQuery } from "../exports/client.ts";
import type {
  DecisionQuery,
  ExplainOptions,
  FlagSubject,
  OfProject,
  OverrideOptions,
  ServedOptions,
} from "../flags/client.ts";
import type { ProxyCheckOptions } from "../proxies/client.ts";
import type { QueryOptions } from "../query/client.ts";
import type { ResetOptions } from "../scenario/state/client.ts";
import type { RecordingScope } from "../sessions/client.ts";
import type { TapeOptions } from "../tapes/client.ts";
import type { SimTrafficOptions } from "../traffic/client.ts";
import type {
  ContactQuery,
  ProjectOptions,
  RequestQuery,
  SnapshotOptions,
  VerifyOptions,
  WaitOptions,
} from "./api.ts";

/** The keys of an options type; the compiler reports a key that is missing here. */
export const keysOf = <T>(keys: Record<keyof T, true>): readonly string[] => Object.keys(keys);

/** The keys that an argument may have, by its position; where they are parameters of a call, the sim checks the others. */
export type OptionKeys = Readonly<Record<number, readonly string[] | { readonly except: readonly string[] }>>;

const ofProject = keysOf<OfProject>({ project: true });
const requests = keysOf<RequestQuery>({
  ...{ outcome: true, project: true, partition: true, filter: true, limit: true },
});
const waiting = keysOf<WaitOptions>({ since: true, project: true, timeoutMs: true, title: true });
const verifying = [...waiting, ...keysOf<Omit<VerifyOptions, keyof WaitOptions>>({ settleMs: true })];
const subject = keysOf<FlagSubject>({
  ...{ project: true, person: true, groups: true, groupProperties: true },
});
const answerPlace = ["project", "partition"];
const without = (keys: readonly string[], key: string) => keys.filter((it) => it !== key);

/** The options of the client's methods. What a method sends as its body is checked by the sim. */
const methods: Readonly<Record<string, OptionKeys>> = {
  "events.list": [{ except: [] }],
  "events.dropped": [{ except: ["outcome"] }],
  "events.rejected": [without(requests, "outcome")],
  "events.waitFor": { 2: waiting },
  "events.waitForCount": { 2: [...waiting, "properties"] },
  "events.waitForSequence": { 1: [...waiting, "distinctId"] },
  "events.expectNone": { 2: verifying },
  "events.verify": [
    keysOf<Terms>({ expect: true, ordered: true, nothingElse: true, noEndedKeys: true }),
    verifying,
  ],
  "events.snapshot": [keysOf<SnapshotOptions>({ since: true, project: true, omit: true })],
  "events.stream": [{ except: [] }, ["signal"]],
  "requests.list": [requests],
  "requests.unmatched": [without(requests, "outcome")],
  "requests.contacts": [keysOf<ContactQuery>({ project: true, since: true, waitMs: true, limit: true })],
  "requests.har": [without(requests, "outcome")],
  "persons.list": [["distinct_id", "search", "project", "limit"]],
  "groups.list": [["project", "limit"]],
  "flags.list": [ofProject],
  "flags.get": { 1: ofProject },
  "flags.set": {
    2: keysOf<OverrideOptions>({ project: true, payload: true, distinctId: true, force: true }),
  },
  "flags.unset": { 1: [...ofProject, "distinctId"] },
  "flags.explain": {
    1: [
      ...subject,
      ...keysOf<Omit<ExplainOptions, keyof FlagSubject>>({
        ...{ distinctId: true, deviceId: true, anonDistinctId: true, ip: true },
      }),
    ],
  },
  "flags.simulate": { 1: [...subject, "count"] },
  "flags.served": {
    1: keysOf<ServedOptions>({
      ...{ project: true, distinctId: true, value: true, waitMs: true, limit: true },
    }),
  },
  "flags.decisions": [keysOf<DecisionQuery>({ key: true, distinctId: true, project: true, limit: true })],
  "answers.queue": { 1: answerPlace },
  "answers.clear": [answerPlace],
  "proxies.check": { 1: keysOf<ProxyCheckOptions>({ origin: true, framework: true, timeoutMs: true }) },
  "recordings.list": [["project", "person", "search", "limit"]],
  "recordings.show": { 1: ["project"] },
  "recordings.search": { 1: keysOf<RecordingScope>({ project: true, session: true, allowUnread: true }) },
  lint: [["project", "maxMs"]],
  query: { 1: keysOf<QueryOptions>({ project: true }) },
  insight: { 1: keysOf<QueryOptions>({ project: true }) },
  dropOffs: { 1: keysOf<QueryOptions>({ project: true }) },
  settle: [["idleMs", "timeoutMs"]],
  project: [keysOf<ProjectOptions>({ name: true, flags: true, settings: true, like: true })],
  guard: [keysOf<GuardOptions>({ hosts: true, allow: true })],
  generate: [
    keysOf<SimTrafficOptions>({
      ...{ persona: true, users: true, days: true, until: true, seed: true, project: true },
    }),
  ],
  reset: [keysOf<ResetOptions>({ what: true, project: true })],
  "clock.set": { 1: ["frozen"] },
  "exports.list": [["project"]],
  "exports.runs": [
    keysOf<ExportRunQuery>({ project: true, batch_export: true, status: true, before: true, limit: true }),
  ],
  "tapes.load": {
    1: keysOf<TapeOptions>({ mode: true, onMiss: true, timing: true, skipStatus: true, approximate: true }),
  },
};

/** Methods that return no promise. */
const immediate: ReadonlySet<string> = new Set(["events.stream", "guard"]);

/**
 * Checks the options in a call's arguments. The error points at the line that called `above`.
 * @throws TypeError that names the first unknown option and the nearest known one, or the argument that is not an object
 */
export function checkOptions(
  method: string,
  options: OptionKeys,
  args: readonly unknown[],
  above: (...args: never[]) => unknown,
): void {
  for (const [position, known] of Object.entries(options)) {
    const problem = problemOf(args[Number(position)], known);
    if (problem === undefined) continue;
    const options = "except" in known ? "" : ` (options: ${known.join(", ")})`;
    const error = new TypeError(`${method}: ${problem}${options}`);
    Error.captureStackTrace(error, above);
    throw error;
  }
}

function problemOf(given: unknown, known: OptionKeys[number]): string | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) return `expected an object with options, got ${describePattern(given)}`;
  if ("except" in known) {
    const key = Object.keys(given).find((it) => known.except.includes(it));
    return key && `unknown option "${key}"`;
  }
  const key = Object.keys(given).find((it) => !known.includes(it));
  return key && `unknown option "${key}"${didYouMean(key, known, (found) => `"${found}"`)}`;
}

function checkMethod(holder: object, name: string, title: string, options: OptionKeys): void {
  const method: unknown = Reflect.get(holder, name);
  if (typeof method !== "function") return;
  const checked = (...args: unknown[]): unknown => {
    try {
      checkOptions(title, options, args, checked);
    } catch (error) {
      if (immediate.has(title)) throw error;
      return Promise.reject(error);
    }
    return Reflect.apply(method, holder, args);
  };
  Reflect.set(holder, name, checked);
}

/** The handle, whose methods reject option keys that they do not have: a misspelt `event` must not list every event. */
export function withKnownOptions<T extends object>(handle: T): T {
  for (const [title, options] of Object.entries(methods)) {
    const [name = "", part] = title.split(".").reverse();
    const holder: unknown = part === undefined ? handle : Reflect.get(handle, part);
    if (isObject(holder)) checkMethod(holder, name, title, options);
  }
  return handle;
}
