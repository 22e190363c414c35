import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { builtFile } from "../../base/built-file.ts";
import { counted } from "../../base/text.ts";
import { nodeOptions } from "../../egress/child-guard.ts";
import { type ExitOrder, type ExitRecord, exitVariable, type SdkCall } from "../../egress/exit-record.ts";
import type { Sim } from "../../index.ts";
import type { Mishap, VerdictSection } from "../../verdict/shapes.ts";
import { clean } from "../clean-text.ts";
import type { ChildEnd } from "./child-process.ts";
import { allEvents } from "./run-findings.ts";

/** A run whose app is ended after its response. */
export interface ExitCheck {
  /** Variables to add to the command's. */
  env(before: string | undefined): Record<string, string>;
  /** The command's end without the signal that the check itself sent. */
  endOf(end: ChildEnd): ChildEnd;
  /** What was lost, as a section of the verdict. */
  section(sim: Sim): Promise<VerdictSection>;
  close(): void;
}

const name = "exit";
const title = "events at exit";
const flushFix =
  "await posthog.flush() (or shutdown()) before the response, or pass it to waitUntil(); on serverless platforms set flushAt: 1 and flushInterval: 0 as well";
const immediateFix = "await captureImmediate() before the response, or pass its promise to waitUntil()";

/** Nothing can be said, which fails the run: it was to be tested. */
const untested = (code: string, sentence: string, fix: string): VerdictSection => ({
  ...{ name, title, failed: true, summary: `not tested: ${sentence}`, total: 1, left_out: 0, text: null },
  items: [{ code, what: "the app", sentence, fix, count: 1, tests: { items: [], left_out: 0 } }],
});

const mostItems = 100;

/** Equal losses together: the uuids are part of the sentence. */
function mishapsOf(lost: readonly SdkCall[], code: string, fix: string, cwd: string): Mishap[] {
  const groups = new Map<string, SdkCall[]>();
  for (const it of lost) {
    const key = `${it.event}\n${it.site}`;
    groups.set(key, [...(groups.get(key) ?? []), it]);
  }
  return [...groups.values()].map((calls) => {
    const [{ event, site } = { event: "", site: null }] = calls;
    const uuids = calls.flatMap(({ uuid }) => uuid ?? []);
    const known =
      uuids.length === 0 ? "" : `: ${uuids.slice(0, 5).join(", ")}${uuids.length > 5 ? " …" : ""}`;
    const what = code === "lost_at_exit" ? "queued, but not sent" : "captureImmediate() had no result yet";
    return {
      code,
      what: `${clean(event, 200)}${site === null ? "" : ` ${clean(shortened(site, cwd), 300)}`}`,
      sentence: `${what} when the app ended after its response${known}`,
      fix,
      count: calls.length,
      tests: { items: [], left_out: 0 },
    };
  });
}

/** Relative to the folder of the run, if it is in it. */
function shortened(site: string, cwd: string): string {
  const path = relative(cwd, site);
  return path.startsWith("..") ? site : path;
}

/** The uuids of the events that arrived. */
async function arrivedAt(sim: Sim): Promise<Set<string | null>> {
  const arrived = new Set<string | null>();
  for await (const { uuid } of allEvents(sim)) arrived.add(uuid);
  return arrived;
}

async function sectionOf(records: readonly ExitRecord[], sim: Sim, cwd: string): Promise<VerdictSection> {
  const killed = records.filter((it) => it.kind === "killed");
  const [first] = killed;
  if (records.length === 0)
    return untested(
      "no_node_process",
      "no Node process started: the queues of other languages' SDKs cannot be read, and their processes are not ended",
      "run the app with Node; for other languages end the process in a test, and compare the events that arrived",
    );
  if (first === undefined)
    return untested(
      "no_response",
      "no HTTP server of the app sent a response that counts",
      "send the app a request while it runs; responses to probes such as /health do not count, --response-path names one that does",
    );
  if (!killed.some(({ isWatched }) => isWatched))
    return untested(
      "sdk_not_found",
      "posthog-node was not found from the app's folder: a copy in a bundle cannot be watched",
      "install posthog-node where the app runs, and leave it out of the bundle (external)",
    );
  const arrived = await arrivedAt(sim);
  const calls = killed.flatMap((it) => it.queued);
  const pending = killed.flatMap((it) => it.pending);
  if (arrived.size + calls.length + pending.length === 0)
    return untested(
      "nothing_captured",
      "no event was captured before the response: a copy of posthog-node in a bundle cannot be watched",
      "request a path that captures an event; leave posthog-node out of the bundle (external)",
    );
  const queued = calls.filter(({ uuid }) => !arrived.has(uuid));
  const items = [
    ...mishapsOf(queued, "lost_at_exit", flushFix, cwd),
    ...mishapsOf(pending, "not_awaited", immediateFix, cwd),
  ];
  const total = queued.length + pending.length;
  const after = `${clean(first.method, 20)} ${clean(first.path, 200)} (HTTP ${first.status})`;
  const summary =
    total > 0
      ? `${counted(total, "event")} lost: the app ended after its response to ${after}`
      : `nothing lost, ${counted(arrived.size, "event")} arrived: the app ended after its response to ${after}`;
  return {
    ...{ name, title, failed: total > 0, summary, total, text: null },
    items: items.slice(0, mostItems),
    left_out: Math.max(0, items.length - mostItems),
  };
}

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
export function openExitCheck(path: string | undefined, cwd: string): ExitCheck {
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
    env: (before) => ({
      NODE_OPTIONS: nodeOptions(before, builtFile("egress/exit-preload.cjs")),
      [exitVariable]: JSON.stringify(order),
    }),
    endOf: (end) =>
      end.code === killedCode && records().some(({ kind }) => kind === "killed") ? { ...end, code: 0 } : end,
    section: (sim) => sectionOf(records(), sim, cwd),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
