import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import type { ClockFacts, StoredEvent } from "../../index.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectsIn,
  parsedJson,
  textIn,
  textsIn,
} from "../../kernel/base/json.ts";
import { readRegularFile } from "../../kernel/base/regular-file.ts";
import { callSim } from "../../kernel/command/ask-sim.ts";
import { type Running, scenarioMistakes } from "../../kernel/command/running-sim.ts";
import { fixFor } from "../../kernel/http/rejection-fixes.ts";
import type { Framework } from "../../lab/egress/env-names.ts";
import { type ResultCount, resultCounts } from "../../testing/run-report/results.ts";

/** A result: fine, worth knowing, or to be fixed. */
export interface DoctorFinding {
  readonly level: "ok" | "warning" | "problem";
  readonly text: string;
  readonly fix?: string;
}

export const ok = (text: string): DoctorFinding => ({ level: "ok", text });
export const warning = (text: string, fix: string): DoctorFinding => ({ level: "warning", text, fix });
export const problem = (text: string, fix: string): DoctorFinding => ({ level: "problem", text, fix });

/** A variable and where it was set: `environment`, or a file's name such as `.env.local`. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

export interface Traffic {
  readonly requests: number;
  readonly kept: number;
  /** Why events were dropped and requests rejected, newest first, each reason once. */
  readonly dropped: readonly { readonly reason: string; readonly count: number; readonly fix: string }[];
  readonly rejected: Traffic["dropped"];
  /** Results of capture v1 other than `ok`. */
  readonly results: readonly ResultCount[];
  /** `POST /x` of paths that do not exist, newest first, and what to do about each. */
  readonly unmatched: readonly { readonly what: string; readonly fix: string }[];
  /** The browser that requested flags or settings, if any; `automated` is its name if it is automated. */
  readonly browser: { readonly automated: string | null } | null;
}

export interface SimFacts {
  readonly url: string;
  readonly foundBy: string;
  readonly version: string;
  readonly projects: readonly { readonly id: number; readonly api_key: string }[];
  readonly personalKey: string | null;
  readonly adoptsTokens: boolean;
  readonly clock: Pick<ClockFacts, "now" | "frozen" | "real"> | null;
  readonly faults: readonly string[];
  /** Mistakes in the files of its scenario: a line for each. */
  readonly scenarioMistakes: readonly string[];
  readonly traffic: Traffic;
}

interface Preflight {
  readonly origin: string;
  readonly status: number;
  readonly allowed: string | null;
}

export interface DoctorFacts {
  /** The sim, or why there is none. */
  readonly sim: SimFacts | { readonly missing: string };
  readonly variables: readonly Variable[];
  readonly framework: Framework | null;
  /** PostHog's libraries that the app depends on; versions as installed, or the range that package.json asks for. */
  readonly libraries: readonly { readonly name: string; readonly version: string }[];
  readonly preflight: Preflight | null;
}

/** In order of precedence. Files for production are not read: the real values belong there. */
const envFiles = [".env.local", ".env.development.local", ".env.development", ".env.test.local", ".env.test", ".env"];

const isOurs = (name: string): boolean => /(?:^|_)POSTHOG_/.test(name) || name === "PHX_SIM_URL";

const oursOf = (variables: Readonly<Record<string, string | undefined>>, source: string): Variable[] =>
  Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isOurs(name) ? [{ name, value, source }] : [],
  );

/** PostHog's variables of the shell and of the folder's .env files; the effective one of each name. */
export function readVariables(env: Readonly<Record<string, string | undefined>>, folder: string): Variable[] {
  const files = envFiles.flatMap((name) => oursOf(parseEnv(readIfThere(join(folder, name)) ?? ""), name));
  const found = new Map<string, Variable>();
  for (const variable of [...oursOf(env, "environment"), ...files]) {
    if (!found.has(variable.name)) found.set(variable.name, variable);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The first that package.json names: most of them may name vite as well. */
const frameworkPackages: readonly (readonly [Framework, string])[] = [
  ["next", "next"],
  ["nuxt", "nuxt"],
  ["expo", "expo"],
  ["sveltekit", "@sveltejs/kit"],
  ["astro", "astro"],
  ["react-router", "@react-router/dev"],
  ["remix", "@remix-run/dev"],
  ["vue", "vue"],
  ["vite", "vite"],
];

/** The nearest package.json at or above the folder, as far as it is about PostHog. */
export function readApp(folder: string): Pick<DoctorFacts, "framework" | "libraries"> {
  for (let at = folder; ; at = dirname(at)) {
    const found = parsed(readIfThere(join(at, "package.json")));
    if (found) return appOf(found, at);
    if (dirname(at) === at) return { framework: null, libraries: [] };
  }
}

function appOf(manifest: JsonObject, folder: string): Pick<DoctorFacts, "framework" | "libraries"> {
  const { dependencies, devDependencies } = manifest;
  const wanted = new Map([devDependencies, dependencies].flatMap((it) => (isObject(it) ? Object.entries(it) : [])));
  const framework = frameworkPackages.find(([, name]) => wanted.has(name))?.[0] ?? null;
  const libraries = [...wanted]
    .filter(([name]) => /^(?:@posthog\/[\w-]+|posthog-[\w-]+)$/.test(name))
    .map(([name, range]) => ({ name, version: installed(folder, name) ?? String(range) }));
  return { framework, libraries };
}

function installed(folder: string, name: string): string | undefined {
  const manifest = parsed(readIfThere(join(folder, "node_modules", name, "package.json")));
  return typeof manifest?.version === "string" ? manifest.version : undefined;
}

function parsed(text = ""): JsonObject | undefined {
  const value = parsedJson(text);
  return isObject(value) ? value : undefined;
}

/** Unreadable files count as missing, and what is no file: password managers make `.env` a pipe. */
function readIfThere(file: string): string | undefined {
  try {
    return readRegularFile(file, 16 * 1024 * 1024).toString();
  } catch {
    return undefined;
  }
}

/** Number of requests and events that the doctor reads. */
const reach = 1000;

/** Requests whose headers are read for the browser's name. */
const looks = 5;

/** The facts of a running sim, and its traffic. @throws Failure */
export async function readSim(running: Running, folder: string): Promise<SimFacts> {
  const { info, url, foundBy } = running;
  const projects = objectsIn(info.projects).flatMap(({ id, api_key }) =>
    typeof id === "number" && typeof api_key === "string" ? [{ id, api_key }] : [],
  );
  return {
    url,
    foundBy,
    version: textIn(info, "version"),
    projects,
    personalKey: textIn(info, "personal_api_key") || null,
    adoptsTokens: info.adopt_tokens === true,
    clock: await callSim<ClockFacts>(running, "GET", "clock"),
    faults: textsIn(info.faults),
    scenarioMistakes: scenarioMistakes(running, folder),
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
  // Preflights, the doctor's included, are not the app's own requests.
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
    results: await resultCounts((method, path, body) => callSim(running, method, path, body)),
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
  // the result that a fault gave is listed with the results
  const reasons = events.flatMap(({ reason }) => (reason === "scripted_result" ? [] : (reason ?? [])));
  return byReason(reasons).map((it) => ({ ...it, fix: seeThem }));
}

/** From the sim's counts; a sim of another version may not have them. */
const keptOf = (counts: Json | undefined, requests: readonly Listed[]): number =>
  isObject(counts) && typeof counts.kept === "number"
    ? counts.kept
    : requests.reduce((sum, { events, dropped }) => sum + events - dropped, 0);

const byReason = (reasons: readonly string[]): { reason: string; count: number }[] =>
  [...groupedBy(reasons, (it) => it)].map(([reason, { length: count }]) => ({ reason, count }));

/** What posthog-js requests when it starts. */
const browserPath = /^\/(?:flags|decide|array)(?:\/|$)/;

/** The browser that requested flags or settings last, by its user agent. */
async function browserOf(running: Running, requests: readonly Listed[]): Promise<Traffic["browser"]> {
  for (const { n } of requests.filter((it) => browserPath.test(pathOf(it))).slice(0, looks)) {
    const { headers } = await callSim<{ headers: [string, string][] }>(running, "GET", `requests/${n}`);
    const agent = headers.find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? "";
    if (agent.startsWith("Mozilla/"))
      return { automated: /HeadlessChrome|PhantomJS|Electron|bot\b/i.exec(agent)?.[0] ?? null };
  }
  return null;
}

/** Sends the preflight of a browser for a page of the origin. */
export async function readPreflight(url: string, origin: string): Promise<Preflight> {
  const answer = await fetch(`${url}/e/`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
    signal: AbortSignal.timeout(5000),
  });
  await answer.arrayBuffer();
  return { origin, status: answer.status, allowed: answer.headers.get("access-control-allow-origin") };
}
