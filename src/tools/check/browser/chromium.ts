import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { serviceHosts } from "../../../kernel/http/host-rules.ts";

export interface ChromiumCandidate {
  /** Where it was found, for messages. */
  readonly from: string;
  readonly path: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ChromiumSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly home: string;
}

export const thisMachine = (env: ChromiumSurroundings["env"] = process.env): ChromiumSurroundings => ({
  env,
  platform: process.platform,
  arch: process.arch,
  home: homedir(),
});

const variables = [
  "CHROMIUM_PATH",
  "CHROME_PATH",
  "CHROME_BIN",
  "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH",
  "PUPPETEER_EXECUTABLE_PATH",
];

const commands = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];

/** Applications that are not on the PATH. */
const applications: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
  ],
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const foldersIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true }).flatMap((it) => (it.isDirectory() ? [join(path, it.name)] : []))
    : [];

const fromEnvironment = ({ env }: ChromiumSurroundings): ChromiumCandidate[] =>
  variables.flatMap((name) => {
    const path = env[name];
    return path ? [{ from: name, path }] : [];
  });

function fromSystem({ env, platform }: ChromiumSurroundings): ChromiumCandidate[] {
  const suffix = platform === "win32" ? ".exe" : "";
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = commands.flatMap((name) => folders.map((folder) => join(folder, name + suffix)));
  return [...onPath, ...(applications[platform] ?? [])].map((path) => ({ from: "the system", path }));
}

/** The folders in which Playwright and Puppeteer keep the browsers that they have downloaded. */
function caches({ env, platform, home }: ChromiumSurroundings): { from: string; folder: string }[] {
  const playwright =
    env.PLAYWRIGHT_BROWSERS_PATH ||
    (platform === "darwin" && join(home, "Library", "Caches", "ms-playwright")) ||
    (platform === "win32" && join(env.LOCALAPPDATA ?? home, "ms-playwright")) ||
    join(home, ".cache", "ms-playwright");
  const puppeteer = join(env.PUPPETEER_CACHE_DIR || join(home, ".cache", "puppeteer"), "chrome");
  return [
    { from: "Playwright's cache", folder: playwright },
    { from: "Puppeteer's cache", folder: puppeteer },
  ];
}

const cachedNames = [
  "chrome",
  "chrome-headless-shell",
  "headless_shell",
  "chrome.exe",
  "chrome-headless-shell.exe",
  join("Chromium.app", "Contents", "MacOS", "Chromium"),
  join("Google Chrome for Testing.app", "Contents", "MacOS", "Google Chrome for Testing"),
];

const fromCaches = (around: ChromiumSurroundings): ChromiumCandidate[] =>
  caches(around).flatMap(({ from, folder }) =>
    foldersIn(folder)
      .filter((it) => /[\\/](?:chromium[^\\/]*|(?:linux|mac|win)[^\\/]*-[\d.]+)$/.test(it))
      .toSorted()
      .toReversed()
      .flatMap(foldersIn)
      .flatMap((it) => cachedNames.map((name) => join(it, name)))
      .map((path) => ({ from, path })),
  );

/** Every installed executable that may be a Chromium, best first. */
export const installedChromiums = (around: ChromiumSurroundings): ChromiumCandidate[] =>
  [...fromEnvironment(around), ...fromSystem(around), ...fromCaches(around)].filter(({ path }) => isFile(path));

interface DevToolsEvent {
  readonly method: string;
  readonly params: JsonObject;
  readonly sessionId: string | undefined;
}

/** A running Chromium, driven by the DevTools protocol over its pipe. */
export interface Chromium extends AsyncDisposable {
  /** `Chrome/143.0.7499.0`, as it reports itself. */
  readonly version: string;
  /** @throws Error of the browser, or that it has ended */
  send(method: string, params?: JsonObject, sessionId?: string): Promise<JsonObject>;
  /** Returns the function that ends it. */
  listen(listener: (event: DevToolsEvent) => void): () => void;
  close(): Promise<void>;
}

/** Quiet and alone: no GPU, no QUIC, no requests of its own; names of the service cannot be resolved. */
const switches = [
  "--headless",
  "--remote-debugging-pipe",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-sync",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
  "--password-store=basic",
  "--use-mock-keychain",
  "--mute-audio",
  "--window-size=1280,800",
  `--host-resolver-rules=${serviceHosts.map((host) => `MAP ${host} ~NOTFOUND`).join(", ")}`,
];

type Answer = { resolve(result: JsonObject): void; reject(error: Error): void };

/** The protocol's messages: JSON, each with a zero byte at its end. */
function openPipe(child: ChildProcess): Omit<Chromium, "version" | "close" | typeof Symbol.asyncDispose> {
  const output = child.stdio[3] as Writable;
  const input = child.stdio[4] as Readable;
  const waiting = new Map<number, Answer>();
  const listeners = new Set<(event: DevToolsEvent) => void>();
  let id = 0;
  let rest: Buffer[] = [];
  let ended: Error | undefined;

  function take(text: string): void {
    const message: unknown = JSON.parse(text);
    if (!isObject(message)) return;
    if (typeof message.id === "number") {
      const answer = waiting.get(message.id);
      waiting.delete(message.id);
      if (isObject(message.error)) answer?.reject(new Error(String(message.error.message)));
      else answer?.resolve(isObject(message.result) ? message.result : {});
    } else if (typeof message.method === "string") {
      const params = isObject(message.params) ? message.params : {};
      const sessionId = typeof message.sessionId === "string" ? message.sessionId : undefined;
      for (const listener of listeners) listener({ method: message.method, params, sessionId });
    }
  }

  function end(error: Error): void {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  }

  input.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, start)) {
      rest.push(chunk.subarray(start, at));
      const text = Buffer.concat(rest).toString("utf8");
      rest = [];
      start = at + 1;
      take(text);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
  input.on("error", end);
  output.on("error", end);
  child.on("error", end);
  child.on("exit", (code) => end(new Error(`the browser ended (exit code ${code})`)));

  return {
    send(method, params = {}, sessionId) {
      if (ended) return Promise.reject(ended);
      const message = { id: ++id, method, params, ...(sessionId !== undefined && { sessionId }) };
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve, reject });
        output.write(`${JSON.stringify(message)}\0`);
      });
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });

/** Time for a browser to close, ms; then it is killed. */
const closeMs = 3_000;

async function launchWith(
  { path, env }: ChromiumCandidate,
  own: Readonly<Record<string, string | undefined>>,
  more: readonly string[],
): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), "phx-sim-check-"));
  const child = spawn(path, [...switches, ...more, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    env: { ...own, ...env },
  });
  const pipe = openPipe(child);
  const close = async () => {
    const timer = setTimeout(() => child.kill("SIGKILL"), closeMs);
    await pipe.send("Browser.close").catch(() => {});
    if (child.pid !== undefined) await ended(child);
    clearTimeout(timer);
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {});
  };
  try {
    const { product } = await pipe.send("Browser.getVersion");
    return { ...pipe, version: String(product), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Why no browser could be started, and what was tried. */
export class NoBrowserError extends Error {
  constructor(tried: readonly string[]) {
    const found = tried.length === 0 ? "" : ` (${tried.join("; ")})`;
    super(
      `no Chromium could be started${found}: install Chromium or Chrome, run "npx playwright install chromium", or set CHROMIUM_PATH to an executable`,
    );
    this.name = "NoBrowserError";
  }
}

/**
 * Starts the first candidate that starts, headless, with a new empty profile: with its sandbox where the system allows
 * that.
 * @throws NoBrowserError
 */
export async function launchChromium(
  candidates: readonly ChromiumCandidate[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Chromium> {
  const tried: string[] = [];
  for (const candidate of candidates) {
    const isRoot = process.getuid?.() === 0;
    for (const more of isRoot ? [["--no-sandbox"]] : [[], ["--no-sandbox"]]) {
      try {
        return await launchWith(candidate, env, more);
      } catch (error) {
        tried.push(`${candidate.path}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  throw new NoBrowserError(tried.slice(0, 4));
}
