import type { ClockFacts, StoredEvent } from "../index.ts";
import { isObject, type Json } from "../kernel/json.ts";
import { fixFor } from "../kernel/rejection-fixes.ts";
import { callSim } from "./ask-sim.ts";
import type { Preflight, SimFacts, Traffic } from "./doctor-finding.ts";
import type { Running } from "./running-sim.ts";

/** How far back the doctor looks. */
const reach = 1000;

/** Requests whose headers are looked at, for the browser's name. */
const looks = 5;

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** What a running sim tells of itself, and what it has seen. @throws Failure */
export async function readSim(running: Running): Promise<SimFacts> {
  const { info, url, foundBy } = running;
  const projects = listOf(info.projects).flatMap((it) =>
    isObject(it) && typeof it.id === "number" && typeof it.api_key === "string"
      ? [{ id: it.id, api_key: it.api_key }]
      : [],
  );
  return {
    url,
    foundBy,
    version: textOf(info.version) ?? "",
    projects,
    personalKey: textOf(info.personal_api_key),
    adoptsTokens: info.adopt_tokens === true,
    clock: await callSim<ClockFacts>(running, "GET", "clock"),
    faults: listOf(info.faults).flatMap((it) => (typeof it === "string" ? [it] : [])),
    traffic: await readTraffic(running, projects[0]?.api_key ?? ""),
  };
}

interface Listed {
  readonly n: number;
  readonly method: string;
  readonly target: string;
  readonly events: number;
  readonly dropped: number;
  readonly rejected: { readonly reason: string; readonly detail: string; readonly hint?: string } | null;
  readonly fault: string | null;
  readonly scripted: boolean;
}

const pathOf = ({ target }: Listed): string => target.split("?", 1)[0] ?? "";

async function readTraffic(running: Running, projectKey: string): Promise<Traffic> {
  const ask = async (query: string) =>
    (await callSim<{ requests: Listed[] }>(running, "GET", `requests?limit=${reach}${query}`)).requests;
  const all = await ask("");
  // A doctor's preflight, and every browser's, says nothing about the app's own requests.
  const requests = all.filter(({ method }) => method !== "OPTIONS");
  const unmatched = await ask("&outcome=unmatched");
  const notThere = new Set(unmatched.map(({ n }) => n));
  const rejected = requests.filter(
    ({ n, rejected, fault, scripted }) => rejected && fault === null && !scripted && !notThere.has(n),
  );
  return {
    requests: requests.length,
    kept: keptOf(running.info.counts, requests),
    dropped: await droppedReasons(running),
    rejected: byReason(rejected.flatMap((it) => it.rejected?.reason ?? [])).map((it) => ({
      ...it,
      fix: fixFor(it.reason, projectKey),
    })),
    unmatched: unmatched.map((it) => ({
      what: `${it.method} ${pathOf(it)}`,
      fix: it.rejected?.hint ?? "check the path, and the host: it must have no path behind it",
    })),
    browser: await browserOf(running, requests),
  };
}

async function droppedReasons(running: Running): Promise<Traffic["dropped"]> {
  const path = `events?outcome=dropped&order=desc&limit=${reach}`;
  const { events } = await callSim<{ events: StoredEvent[] }>(running, "GET", path);
  const seeThem = "phx-sim events list --outcome dropped";
  return byReason(events.flatMap(({ reason }) => reason ?? [])).map((it) => ({ ...it, fix: seeThem }));
}

/** As the sim counts them; a sim of another version may not. */
const keptOf = (counts: Json | undefined, requests: readonly Listed[]): number =>
  isObject(counts) && typeof counts.kept === "number"
    ? counts.kept
    : requests.reduce((sum, { events, dropped }) => sum + events - dropped, 0);

function byReason(reasons: readonly string[]): { reason: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => ({ reason, count }));
}

/** What posthog-js asks for when it starts. */
const browserPath = /^\/(?:flags|decide|array)(?:\/|$)/;

/** The browser that asked for flags or settings last, by its user agent. */
async function browserOf(running: Running, requests: readonly Listed[]): Promise<Traffic["browser"]> {
  for (const { n } of requests.filter((it) => browserPath.test(pathOf(it))).slice(0, looks)) {
    const { headers } = await callSim<{ headers: [string, string][] }>(running, "GET", `requests/${n}`);
    const agent = headers.find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? "";
    if (agent.startsWith("Mozilla/"))
      return { automated: /HeadlessChrome|PhantomJS|Electron|bot\b/i.exec(agent)?.[0] ?? null };
  }
  return null;
}

/** Asks as a browser does before a page of the origin may send. */
export async function readPreflight(url: string, origin: string): Promise<Preflight> {
  const answer = await fetch(`${url}/e/`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
    signal: AbortSignal.timeout(5000),
  });
  await answer.arrayBuffer();
  return { origin, status: answer.status, allowed: answer.headers.get("access-control-allow-origin") };
}
