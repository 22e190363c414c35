import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** A reverse proxy at /ingest that other programs run. */
export interface Started {
  readonly url: string;
  close(): Promise<void>;
}

/** The files of a configuration, by their path; `SIM`, `HOST` (of the sim) and `PORT` stand for addresses. */
export type Files = Readonly<Record<string, string>>;

interface Program {
  /** Completes "skipped: …"; undefined if it can run. */
  missing(): string | undefined;
  /** Its command line, in the folder with the files. */
  command(folder: string, port: number): readonly string[];
  /** What it prints once it listens. */
  readonly ready: RegExp;
  /** Files that every configuration has. */
  readonly files: Files;
}

const inPath = (name: string): string | undefined =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"].map((it) => join(it, name)).find((it) => existsSync(it));

const root = join(import.meta.dirname, "../../..");

/** Where `npm run check:proxies` installs Next.js. */
const nextFolder = join(root, "node_modules/.cache/phx-proxies/next");

const nextBin = join(nextFolder, "node_modules/next/dist/bin/next");

export const programs = {
  nginx: {
    missing: () => (inPath("nginx") ? undefined : "nginx is not installed (apt-get install nginx-light)"),
    command: (folder) => [inPath("nginx") ?? "", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"],
    ready: /start worker process/,
    files: {},
  },
  caddy: {
    missing: () => (inPath("caddy") ? undefined : "caddy is not installed (apt-get install caddy)"),
    command: (folder) => [
      inPath("caddy") ?? "",
      "run",
      "--config",
      join(folder, "Caddyfile"),
      "--adapter",
      "caddyfile",
    ],
    ready: /serving initial configuration/,
    files: {},
  },
  vite: {
    missing: () => undefined,
    command: (folder, port) => [
      process.execPath,
      join(root, "node_modules/vite/bin/vite.js"),
      folder,
      ...["--port", String(port), "--strictPort", "--host", "127.0.0.1", "--clearScreen", "false"],
    ],
    ready: /ready in/,
    files: { "index.html": '<!doctype html><script type="module" src="/main.js"></script>', "main.js": "" },
  },
  next: {
    missing: () => (existsSync(nextBin) ? undefined : "Next.js is not installed (npm run check:proxies installs it)"),
    command: (folder, port) => [
      process.execPath,
      nextBin,
      "dev",
      folder,
      ...["--port", String(port), "--hostname", "127.0.0.1", "--webpack"],
    ],
    ready: /Ready in/,
    files: {
      "package.json": '{"private":true}',
      // without JSX: Next.js does not compile it below node_modules
      "app/layout.js":
        'import { createElement as h } from "react"; export default ({ children }) => h("html", { lang: "en" }, h("body", null, children));',
      "app/page.js": 'export default () => "shop";',
    },
  },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof programs;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Resolves once the program listens. @throws Error with what it printed if it ends before */
function listening(child: ChildProcess, ready: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (text: Buffer) => {
      said += text.toString();
      if (ready.test(said)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${said.slice(-2_000)}`)));
  });
}

/** Starts a program with this configuration as a reverse proxy to the sim. */
export async function startProxy(name: ProgramName, files: Files, sim: string): Promise<Started> {
  const { command, ready, files: common }: Program = programs[name];
  const home = name === "next" ? join(nextFolder, "apps/") : join(tmpdir(), "phx-proxy-");
  if (name === "next") mkdirSync(home, { recursive: true });
  const folder = mkdtempSync(home);
  const port = await freePort();
  const named = Object.entries({ ...common, ...files }).map(([path, text]) => [
    path,
    text
      .replaceAll("SIM", sim)
      .replaceAll("HOST", new URL(sim).host)
      .replaceAll("PORT", String(port))
      .replaceAll("FOLDER", folder),
  ]);
  write(folder, Object.fromEntries(named) as Files);
  const [bin = "", ...args] = command(folder, port);
  const child = spawn(bin, args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    } catch {
      // it has ended
    }
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, ready);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}/ingest`, close };
}
