import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sim } from "../../index.ts";
import { builtFile } from "../../kernel/base/built-file.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { nodeOptions } from "../../lab/egress/child-guard.ts";
import { type ExitOrder, type ExitRecord, exitVariable, type SdkCall } from "../../lab/egress/exit-record.ts";
import { firstOf, noTests } from "../../testing/run-report/run-report.ts";
import type { Mishap, VerdictSection } from "../../testing/run-report/shapes.ts";
import type { ChildEnd } from "./child-process.ts";
import { allEvents } from "./run-findings.ts";

const name = "exit";
const title = "events at exit";
const flushFix =
  "await posthog.flush() (or shutdown()) before the response, or pass it to waitUntil(); on serverless platforms set flushAt: 1 and flushInterval: 0 as well";
const immediateFix = "await captureImmediate() before the response, or pass its promise to waitUntil()";
const metricsFix =
  "await posthog.metrics.flush() (or posthog.shutdown()) before the response, or pass it to waitUntil()";

/** Nothing can be said, which fails the run: it was to be tested. */
const untested = (code: string, sentence: string, fix: string): VerdictSection => ({
  ...{ name, title, failed: true, summary: `not tested: ${sentence}`, total: 1, left_out: 0, text: null },
  items: [{ code, what: "the app", sentence, fix, count: 1, tests: noTests }],
});

const mostItems = 100;

/** What it means that something is not sent, by the code of the finding. */
const meanings = {
  lost_at_exit: "queued, but not sent",
  not_queued: "not even queued: the SDK was still reading flags or source files for it",
  not_awaited: "captureImmediate() had no result yet",
} as const;

/** Equal losses together: the uuids are part of the sentence. */
function mishapsOf(lost: readonly SdkCall[], code: keyof typeof meanings, fix: string, cwd: string): Mishap[] {
  const groups = groupedBy(lost, ({ kind, event, site }) => `${kind}\n${event}\n${site}`);
  return [...groups.values()].map((calls) => {
    const [{ kind, event, site } = { kind: "event", event: "", site: null }] = calls;
    const uuids = calls.flatMap(({ uuid }) => uuid ?? []);
    const known = uuids.length === 0 ? "" : `: ${uuids.slice(0, 5).join(", ")}${uuids.length > 5 ? " …" : ""}`;
    const word = kind === "event" ? "" : `${kind} `;
    return {
      code,
      what: `${word}${clean(event, 200)}${site === null ? "" : ` ${clean(shortened(site, cwd), 300)}`}`,
      sentence: `${meanings[code]} when the app ended after its response${known}`,
      fix,
      count: calls.length,
      tests: noTests,
    };
  });
}

type Killed = Extract<ExitRecord, { kind: "killed" }>;

/** Events that arrived: their uuids, and how many came from a copy of posthog-node whose calls were not heard. */
async function arrivedAt(sim: Sim, killed: readonly Killed[]) {
  const heard = new Set(killed.flatMap((it) => it.queued.map(({ uuid }) => uuid)));
  const atOnce = new Set(killed.flatMap((it) => it.immediate));
  const uuids = new Set<string | null>();
  let unheard = 0;
  for await (const { uuid, event, properties } of allEvents(sim)) {
    uuids.add(uuid);
    if (properties.$lib === "posthog-node" && !heard.has(uuid) && !atOnce.has(event ?? "")) unheard++;
  }
  return { uuids, unheard };
}

const partWords = { http2: "servers of HTTP/2", worker: "worker threads" } as const;

/** What the check did not see, in words; "" for nothing. */
function unwatchedWords(records: readonly ExitRecord[], unheard: number): string {
  const parts = new Set(records.flatMap((it) => (it.kind === "unwatched" ? [it.part] : [])));
  const unread = new Set(records.flatMap((it) => (it.kind === "killed" ? it.unread : [])));
  const words = [
    ...[...parts].map((it) => partWords[it]),
    ...(unheard > 0
      ? [`a copy of posthog-node that sent ${counted(unheard, "event")} (in a bundle, a worker or another process)`]
      : []),
    ...[...unread].map((it) => `${it} of this version of posthog-node`),
  ];
  return words.length === 0 ? "" : `; not watched: ${words.join(", ")}`;
}

async function sectionOf(records: readonly ExitRecord[], sim: Sim, cwd: string): Promise<VerdictSection> {
  const killed = records.filter((it) => it.kind === "killed");
  const [first] = killed;
  const unseen = unwatchedWords(records, 0);
  if (records.length === 0)
    return untested(
      "no_node_process",
      "no Node process started: the queues of other languages' SDKs cannot be read, and their processes are not ended",
      "run the app with Node; for other languages end the process in a test, and compare the events that arrived",
    );
  if (first === undefined)
    return untested(
      "no_response",
      `no HTTP server of the app sent a response that counts${unseen}`,
      unseen === ""
        ? "send the app a request while it runs; responses to probes such as /health do not count, --response-path names one that does"
        : "let the app listen with node:http in its main thread for this check",
    );
  if (!killed.some(({ isWatched }) => isWatched))
    return untested(
      "sdk_not_found",
      `posthog-node was not found from the app's folder: a copy in a bundle cannot be watched${unseen}`,
      "install posthog-node where the app runs, and leave it out of the bundle (external)",
    );
  const arrived = await arrivedAt(sim, killed);
  const calls = killed.flatMap((it) => it.queued);
  const preparing = killed.flatMap((it) => it.preparing);
  const pending = killed.flatMap((it) => it.pending);
  const unsent = killed.flatMap((it) => it.unsent);
  const atOnce = killed.flatMap((it) => it.immediate);
  const isSilent = [calls, preparing, pending, unsent, atOnce].every(({ length }) => length === 0);
  if (isSilent && arrived.unheard > 0)
    return untested(
      "sdk_not_watched",
      `${counted(arrived.unheard, "event")} arrived from a copy of posthog-node that is not watched: in a bundle, a worker or another process${unseen}`,
      "leave posthog-node out of the bundle (external), and use it in the main thread of the process that answers",
    );
  if (isSilent && arrived.uuids.size === 0)
    return untested(
      "nothing_captured",
      `no event was captured before the response: a copy of posthog-node in a bundle cannot be watched${unseen}`,
      "request a path that captures an event; leave posthog-node out of the bundle (external)",
    );
  const queued = calls.filter(({ uuid }) => !arrived.uuids.has(uuid));
  const metrics = unsent.filter(({ kind }) => kind === "metric");
  const others = unsent.filter(({ kind }) => kind !== "metric");
  const items = [
    ...mishapsOf(queued, "lost_at_exit", flushFix, cwd),
    ...mishapsOf(preparing, "not_queued", flushFix, cwd),
    ...mishapsOf(pending, "not_awaited", immediateFix, cwd),
    ...mishapsOf(others, "lost_at_exit", flushFix, cwd),
    ...mishapsOf(metrics, "lost_at_exit", metricsFix, cwd),
  ];
  const lost = [...queued, ...preparing, ...pending, ...unsent];
  const after = `the app ended after its response to ${clean(first.method, 20)} ${clean(first.path, 200)} (HTTP ${first.status})`;
  const summary =
    lost.length > 0
      ? `${countsOf(lost)} lost: ${after}`
      : `nothing lost, ${counted(arrived.uuids.size, "event")} arrived: ${after}`;
  return {
    ...{ name, title, failed: lost.length > 0, total: lost.length, text: null },
    summary: `${summary}${unwatchedWords(records, arrived.unheard)}`,
    ...firstOf(items, mostItems),
  };
}

const countsOf = (lost: readonly SdkCall[]): string =>
  (["event", "log", "metric", "span"] as const)
    .map((kind) => [lost.filter((it) => it.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => counted(count, kind))
    .join(", ");

/** A damaged last line is of a process that ended while it wrote. */
function recordsIn(file: string): ExitRecord[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as ExitRecord];
      } catch {
        return [];
      }
    });
}

/** 128 and the number of SIGKILL. */
const killedCode = 137;

/** Opens the check of a run. @param path Only responses to this path count */
export function openExitCheck(path: string | undefined, cwd: string) {
  const folder = mkdtempSync(join(tmpdir(), "phx-sim-exit-"));
  const file = join(folder, "records.ndjson");
  const order: ExitOrder = { file, path };
  const records = () => {
    try {
      return recordsIn(file);
    } catch {
      return [];
    }
  };
  return {
    /** Variables to add to the command's. */
    env: (before: string | undefined) => ({
      NODE_OPTIONS: nodeOptions(before, builtFile("lab/egress/exit-preload.cjs")),
      [exitVariable]: JSON.stringify(order),
    }),
    /** The command's end without the signal that the check itself sent. */
    endOf: (end: ChildEnd) =>
      end.code === killedCode && records().some(({ kind }) => kind === "killed") ? { ...end, code: 0 } : end,
    /** What was lost, as a section of the verdict. */
    section: (sim: Sim) => sectionOf(records(), sim, cwd),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export type ExitCheck = ReturnType<typeof openExitCheck>;
