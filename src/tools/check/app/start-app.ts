import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { certificateAuthority, type Sim } from "../../../index.ts";
import { isObject } from "../../../kernel/base/json.ts";
import { rerouteChildren } from "../../../lab/egress/reroute-children.ts";
import { readyLine } from "../../../sim/command/banner.ts";
import { readVariables } from "../../doctor/doctor-facts.ts";
import { childVariables } from "../../exec/child-environment.ts";
import { startWatcher } from "../../exec/child-process.ts";

export interface StartedApp extends AsyncDisposable {
  /** The address that it printed; undefined: it has ended on its own. */
  readonly url: string | undefined;
  readonly exitCode: number | null;
  /** Its first lines that name an error, else its last ones; without escape codes. */
  output(): readonly string[];
}

/** `TypeError: x`, `[ERROR] x`; not `new Error(`. */
const errorLine = /\b\w*error\b(?!\()/i;
const mostErrors = 3;

/** Why an app cannot be checked. */
export class AppError extends Error {
  readonly output: readonly string[];

  constructor(message: string, output: readonly string[] = []) {
    super(message);
    this.name = "AppError";
    this.output = output;
  }
}

const address = /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d{1,5})?(?:\/[^\s"'<>)\]]*)?/g;
const keptLines = 40;

/** The first address of a server on this machine in a line, as a browser can open it. */
export function addressIn(line: string, except: string): string | undefined {
  const found = stripVTControlCharacters(line).match(address) ?? [];
  return found
    .map((it) => it.replace(/:\/\/(?:0\.0\.0\.0|\[::\])/, "://127.0.0.1").replace(/[.,;:]+$/, ""))
    .find((it) => URL.canParse(it) && new URL(it).origin !== except);
}

/** Why nothing answers there; undefined once anything does. */
async function silenceOf(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerMs), redirect: "manual" });
    await answer.body?.cancel();
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    // A development server with a certificate of its own answers, too.
    if (/CERT|SELF_SIGNED|SIGNATURE/.test(code)) return undefined;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** The longest wait for one answer, ms: a development server compiles its first page. */
const answerMs = 30_000;

/** Waits until the address answers. @throws AppError */
export async function untilAnswering(url: string, timeoutMs: number, isOver = () => false): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const reason = await silenceOf(url);
    if (reason === undefined) return;
    if (performance.now() > end || isOver())
      throw new AppError(`nothing answers at ${url} (${reason}): start the app first, or with --start COMMAND`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const endMs = 3_000;

async function endGroup(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const signal = (name: NodeJS.Signals) => {
    try {
      if (process.platform === "win32") child.kill(name);
      else process.kill(-pid, name);
    } catch {
      // It has ended already.
    }
  };
  signal("SIGTERM");
  const timer = setTimeout(() => signal("SIGKILL"), endMs);
  await exited;
  clearTimeout(timer);
  // Children that outlive their shell.
  signal("SIGKILL");
}

interface StartAppOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The address that the app is known to have; else the first one that it prints. */
  readonly url: string | undefined;
  /** An address in its output that is not its own: the sim's. */
  readonly except: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs a command in a shell until it answers at its address, or ends. A command that ends without an address is a
 * script, and no error.
 * @throws AppError
 */
export async function startApp(options: StartAppOptions): Promise<StartedApp> {
  const { command, cwd, env, except, timeoutMs } = options;
  const lines: string[] = [];
  const errors: string[] = [];
  let found = options.url;
  let onAddress = () => {};
  const mark = randomUUID();
  const watcher = startWatcher(mark);
  const child = spawn(command, {
    cwd,
    env: { ...env, PHX_SIM_EXEC: mark, BROWSER: "none" },
    shell: true,
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid !== undefined) watcher?.begin(child.pid);
  const exited = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (code) => resolve(code ?? 1));
  });
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    const take = (all: readonly string[]) => {
      const parts = all.map((line) => stripVTControlCharacters(line).trimEnd());
      lines.push(...parts);
      errors.push(...parts.filter((it) => errorLine.test(it)).slice(0, mostErrors - errors.length));
      lines.splice(0, Math.max(0, lines.length - keptLines));
      found ??= parts.map((line) => addressIn(line, except)).find((it) => it !== undefined);
      if (found !== undefined) onAddress();
    };
    stream.setEncoding("utf8").on("data", (text: string) => {
      const all = (rest + text).split("\n");
      rest = (all.pop() ?? "").slice(-4_000);
      take(all);
    });
    stream.once("end", () => {
      if (rest !== "") take([rest]);
    });
  }
  const output = () => (errors.length > 0 ? errors : lines).slice(-mostErrors);
  const end = async () => {
    await endGroup(child, exited);
    watcher?.end();
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const code = await Promise.race([
      exited.then((code) => ({ code })),
      new Promise<undefined>((resolve) => {
        onAddress = () => resolve(undefined);
        if (found !== undefined) resolve(undefined);
      }),
      new Promise<never>((_, reject) => {
        const late = `${JSON.stringify(command)} printed no address within ${timeoutMs / 1000} s: name it, as in phx-sim check http://localhost:3000 --start ${JSON.stringify(command)}`;
        timer = setTimeout(() => reject(new AppError(late, output())), timeoutMs);
        options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
      }),
    ]);
    if (code !== undefined) {
      watcher?.end();
      return { url: undefined, exitCode: code.code, output, [Symbol.asyncDispose]: () => Promise.resolve() };
    }
    let isOver = false;
    void exited.then(() => {
      isOver = true;
    });
    await untilAnswering(found ?? "", timeoutMs, () => isOver).catch((error: unknown) => {
      if (!isOver) throw error;
      throw new AppError(`${JSON.stringify(command)} ended before it answered at ${found}`, output());
    });
    return { url: found, exitCode: null, output, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The scripts that start an app for development, best first. */
const scripts = ["dev", "start", "serve", "preview"];

/** Lock files and the package manager that writes each. */
const managers: readonly (readonly [file: string, manager: string])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

interface FoundScript {
  readonly command: string;
  readonly folder: string;
}

function scriptsIn(file: string): Record<string, unknown> | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(manifest) && isObject(manifest.scripts) ? manifest.scripts : {};
  } catch {
    return undefined;
  }
}

/** The dev or start script of the nearest package.json at or above the folder. */
export function findScript(folder: string): FoundScript | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const own = scriptsIn(join(at, "package.json"));
    const name = own && scripts.find((it) => typeof own[it] === "string");
    if (own) {
      const manager = managers.find(([file]) => existsSync(join(at, file)))?.[1] ?? "npm";
      return name === undefined ? undefined : { command: `${manager} run ${name}`, folder: at };
    }
    if (dirname(at) === at) return undefined;
  }
}

/** The certificate with which programs other than Node are rerouted; undefined if it cannot be made. */
async function certificateFile(folder: string | undefined): Promise<string | undefined> {
  try {
    return (await certificateAuthority(folder)).cert_file;
  } catch {
    return undefined;
  }
}

/**
 * The environment of an app for the check. Variables of PostHog's that the app has, in `env` or in its .env files, stay
 * as they are: they are checked. All others point it at the sim, and requests for the real service are rerouted.
 */
export async function startEnvironment(
  sim: Sim,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<NodeJS.ProcessEnv> {
  const own = new Set(readVariables(env, folder).map(({ name }) => name));
  const given = Object.entries(childVariables(readyLine(sim))).filter(([name]) => !own.has(name));
  const certFile = await certificateFile(env.PHX_SIM_CA_DIR || undefined);
  const routes = rerouteChildren({ url: sim.url, certFile, env });
  return { ...env, ...Object.fromEntries(given), ...routes.env };
}
