import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { type Problem, problemLines } from "../base/problem.ts";
import { askInfo, askReady } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { resolveSettings, type Settings } from "./settings.ts";

interface Located {
  readonly file: string;
  readonly url: string;
  readonly pid: number;
  readonly token: string | undefined;
}

const locatorName = "run.json";

/** The running sim that the folder's locator names; undefined if there is none or its process has ended. */
export function locate(folder: string): Located | undefined {
  const file = join(folder, locatorName);
  const found = readJson(file);
  if (!isObject(found) || typeof found.url !== "string" || typeof found.pid !== "number") return undefined;
  // The public address may not be reachable on this machine.
  const url = typeof found.local_url === "string" ? found.local_url : found.url;
  const token = typeof found.control_token === "string" ? found.control_token : undefined;
  return isAlive(found.pid) ? { file, url, pid: found.pid, token } : undefined;
}

/** The same for the nearest data folder of this name at or above `folder`. */
function locateAbove(folder: string, name: string): Located | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = locate(join(at, name));
    if (found || dirname(at) === at) return found;
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // No locator, or one that is being written.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Options that name the sim, of every client command. */
export const whereOptions = {
  url: { kind: "url", describe: "The sim's address (default: from the data folder's run.json)", configurable: true },
  data: { kind: "folder", describe: "The sim's data folder", configurable: true, default: ".phx-sim" },
  token: { kind: "control token", describe: "Control token of a sim that requires one", configurable: true },
} as const;

type Where = Settings<typeof whereOptions>;

interface Spot {
  readonly url: string;
  /** For people: `--url`, `PHX_SIM_URL`, or the locator file. */
  readonly foundBy: string;
  readonly token: string | undefined;
}

export interface Running extends Spot {
  readonly info: JsonObject;
}

const isProblem = (it: Json): it is Json & Problem =>
  isObject(it) && ["message", "pointer"].every((key) => typeof it[key] === "string") && "file" in it;

/** Mistakes in the files of its scenario, whose last valid version is in force: a line for each. */
export const scenarioMistakes = ({ info }: Pick<Running, "info">, folder: string): string[] =>
  problemLines(
    Array.isArray(info.scenario_problems) ? info.scenario_problems.filter(isProblem) : [],
    folder,
    "scenario",
  ).map((line) => clean(line));

const pollMs = 50;
// the first call loads the control API, which takes seconds on a busy machine
const askMs = 5000;

/** The port of `phx-sim start`, unless the environment or the config file has another one. */
export const portOption = {
  kind: "port",
  describe: "Port to listen on; 0 takes any free one",
  configurable: true,
  default: "7490",
} as const;

type Around = Pick<Shell, "cwd" | "env" | "config" | "err">;

/**
 * The running sim, by --url, PHX_SIM_URL, or the locator in the data folder (the default folder is also searched in
 * the folders above), else the one at the port of `phx-sim start`, which is named on stderr. With `waitMs` it tries
 * again until the sim is ready. Throws `no_sim`.
 */
export async function findRunning(where: Where, shell: Around, waitMs = 0): Promise<Running> {
  const end = Date.now() + waitMs;
  for (;;) {
    const found = await look(where, shell.cwd, waitMs > 0);
    if (!(found instanceof Failure)) return found;
    const other = mayBeElsewhere(where) ? await atDefaultPort(where, shell) : undefined;
    if (other) return other;
    if (Date.now() >= end) throw found;
    await pause(Math.min(pollMs, Math.max(1, end - Date.now())));
  }
}

/** Not where an address or a folder was given. */
const mayBeElsewhere = ({ values, origins }: Where): boolean =>
  values.url === undefined && origins.data.source === "default";

/** A sim in memory, or of another folder, has no locator here. */
async function atDefaultPort({ values: { token } }: Where, shell: Around): Promise<Running | undefined> {
  const { port } = resolveSettings({ port: portOption }, {}, shell).values;
  const url = `http://127.0.0.1:${port}`;
  const info = port === 0 ? undefined : await askInfo(url, askMs, token);
  if (info === "locked") throw new Failure("no_sim", lockedBy({ url, token, foundBy: "the default port" }));
  if (!info) return undefined;
  const data = typeof info.data === "string" ? `data in ${clean(info.data)}` : "in memory";
  shell.err.say(`phx-sim: no sim runs in this folder; this is the one at ${url} (${data})`);
  return { url, foundBy: "the default port", token, info };
}

async function look(where: Where, cwd: string, needsReady: boolean): Promise<Running | Failure> {
  const spot = spotOf(where, cwd);
  if (spot instanceof Failure) return spot;
  const ready = !needsReady || (await askReady(spot.url, askMs));
  const info = ready ? await askInfo(spot.url, askMs, spot.token) : undefined;
  if (info === "locked") return new Failure("no_sim", lockedBy(spot));
  if (info) return { ...spot, info };
  return new Failure("no_sim", `no phx-sim answers at ${clean(spot.url)} (from ${clean(spot.foundBy)})`);
}

const lockedBy = ({ url, token }: Spot): string =>
  `the phx-sim at ${clean(url)} requires its token${token === undefined ? "" : ", and this is another one"}; ` +
  "give the token that it was started with by --token or PHX_SIM_TOKEN, else the one in its banner or run.json";

function spotOf({ values, origins }: Where, cwd: string): Spot | Failure {
  // A folder named on the command line is nearer than an address from the environment.
  const folderFirst = origins.data.source === "flag" && origins.url.source !== "flag";
  if (values.url !== undefined && !folderFirst) {
    return { url: values.url, foundBy: origins.url.where, token: values.token };
  }
  const located = locatedBy(values.data, origins.data.source === "default", cwd);
  if (located) return { url: located.url, foundBy: located.file, token: values.token ?? located.token };
  return new Failure(
    "no_sim",
    `no running sim found from ${clean(values.data)}; start one with phx-sim start, or give --url or PHX_SIM_URL`,
  );
}

const locatedBy = (folder: string, isDefault: boolean, cwd: string): Located | undefined =>
  isDefault ? locateAbove(cwd, whereOptions.data.default) : locate(folder);

/** The program that listens on the port: another sim with its pid and data folder, or on Linux the process. */
export async function portHolder(host: string, port: number): Promise<{ holder: string; stop: string }> {
  const url = `http://${urlHost(host)}:${port}`;
  const info = await askInfo(url, 2000);
  return { holder: holderOf(info, port), stop: info ? `stop it with phx-sim stop --url ${url}` : "stop it" };
}

function holderOf(info: Awaited<ReturnType<typeof askInfo>>, port: number): string {
  if (info === "locked") return `a phx-sim, ${listenerOf(port) ?? "whose control API requires its token"}`;
  if (!info) return listenerOf(port) ?? "another program";
  const pid = typeof info.pid === "number" ? `pid ${info.pid}, ` : "";
  const data = typeof info.data === "string" ? `data folder ${clean(info.data)}` : "in memory";
  return `phx-sim ${clean(String(info.version), 20)} (${pid}${data})`;
}

/** The address to call if a program is bound to every interface. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const LISTEN = "0A";

/** `node (pid 123)`, from the socket tables of Linux; undefined elsewhere and for processes of other users. */
function listenerOf(port: number): string | undefined {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listening(table, port)));
  if (inodes.size === 0) return undefined;
  const pid = quietly(() => readdirSync("/proc"))?.find((it) => /^\d+$/.test(it) && holdsOne(it, inodes));
  if (pid === undefined) return undefined;
  const name = quietly(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "a program";
  return `${clean(name, 40)} (pid ${pid})`;
}

function listening(table: string, port: number): string[] {
  const rows = quietly(() => readFileSync(table, "utf8").split("\n").slice(1)) ?? [];
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) && columns[3] === LISTEN)
    .map((columns) => `socket:[${columns[9]}]`);
}

function holdsOne(pid: string, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  const files = quietly(() => readdirSync(folder)) ?? [];
  return files.some((file) => sockets.has(quietly(() => readlinkSync(`${folder}/${file}`)) ?? ""));
}

/** Processes end at any time, and most of them are not readable. */
function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
