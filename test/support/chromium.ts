import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import {
  type ChromiumCandidate,
  type ChromiumSurroundings,
  installedChromiums,
  thisMachine,
} from "../../src/tools/check/browser/chromium.ts";

const project = join(import.meta.dirname, "..", "..");
const require = createRequire(import.meta.url);
const cache = join(project, "node_modules", ".cache", "phx-sim");

/** The package's own file names folders of its cloud; without any font a page with an input field crashes. */
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Unpacks the package. It writes to fixed names below the temporary folder and takes what lies there for
 * complete, so it runs in a process of its own with a temporary folder of its own. It unpacks its shared
 * libraries (nss, expat) only when it believes it is on Amazon Linux 2023: elsewhere they are what a bare
 * system lacks.
 */
async function unpack(target: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, "unpacking-"));
  const code = 'const { default: it } = await import("@sparticuz/chromium"); await it.executablePath();';
  try {
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
      cwd: project,
      env: { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
    });
    await writeFile(join(staging, "fonts", "fonts.conf"), fontSettings);
    await rename(staging, target);
  } catch (error) {
    // Another test process may have been quicker; its copy is as good.
    if (!existsSync(target)) throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * The Chromium of the npm package, for Linux on x64; undefined elsewhere.
 * @throws Error when the package is not installed or cannot be unpacked
 */
export async function packagedCandidate({
  env,
  platform,
  arch,
}: ChromiumSurroundings): Promise<ChromiumCandidate | undefined> {
  if (platform !== "linux" || arch !== "x64") return undefined;
  // Its entry is build/cjs/index.cjs; package.json itself is not among its exports.
  const home = join(require.resolve("@sparticuz/chromium"), "..", "..", "..");
  const manifest: { version: string } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  const folder = join(cache, `chromium-${manifest.version}`);
  if (!existsSync(folder)) await unpack(folder);
  const libraries = [join(folder, "al2023", "lib"), env.LD_LIBRARY_PATH].filter(Boolean);
  return {
    from: "@sparticuz/chromium",
    path: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: libraries.join(delimiter), FONTCONFIG_PATH: join(folder, "fonts") },
  };
}

/** Quiet and alone: no GPU, no QUIC, no calls home. Names below .test lead to this machine. */
const args = [
  "--host-resolver-rules=MAP *.test 127.0.0.1",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts one candidate, headless, with a new empty profile. Playwright itself passes --no-sandbox. */
export const launch = (candidate: ChromiumCandidate, more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: candidate.path,
    headless: true,
    args: [...args, ...more],
    env: { ...process.env, ...candidate.env },
  });

const firstLine = (thrown: unknown): string => String(thrown).split("\n", 1)[0] ?? "";

const advice =
  "No Chromium could be started: install one (Debian: apt-get install chromium) or set CHROMIUM_PATH to its executable.";

/**
 * Where a Chromium may be, best first: what the environment names, the npm package, whose version is always the same
 * and which needs half the time of a whole browser, then the system and Playwright's cache.
 */
function candidates(around: ChromiumSurroundings) {
  const installed = installedChromiums(around).map((it) => ({ ...it, find: async () => it }));
  const named = installed.filter(({ path }) => Object.values(around.env).includes(path));
  const packaged = { from: "@sparticuz/chromium", path: "", find: () => packagedCandidate(around) };
  return [...named, packaged, ...installed.filter((it) => !named.includes(it))];
}

/**
 * Variables for a process that starts a browser of its own: `CHROMIUM_PATH`, and what that one needs in addition.
 * @throws Error when there is none
 */
export async function chromiumEnv(around: ChromiumSurroundings = thisMachine()): Promise<Record<string, string>> {
  const candidate = installedChromiums(around)[0] ?? (await packagedCandidate(around));
  if (!candidate) throw new Error(advice);
  return { CHROMIUM_PATH: candidate.path, ...candidate.env };
}

/**
 * Starts the first Chromium that starts.
 * @param more Further arguments
 * @throws Error that says how to get one, and what was tried
 */
export async function launchChromium(
  around: ChromiumSurroundings = thisMachine(),
  more: readonly string[] = [],
): Promise<Browser> {
  const tried: string[] = [];
  for (const { from, path, find } of candidates(around)) {
    try {
      const candidate = await find();
      if (candidate) return await launch(candidate, more);
    } catch (error) {
      tried.push(`${from}${path && ` (${path})`}: ${firstLine(error)}`);
    }
  }
  throw new Error([advice, ...tried].join("\n"));
}

let shared: Promise<Browser> | undefined;

async function sharedChromium(): Promise<Browser> {
  const running = await shared;
  if (running?.isConnected()) return running;
  shared = launchChromium();
  return shared;
}

/** The Chromium of all test files that run in this process; it ends with the process. A file's contexts end with the file. */
export function chromiumOfFile(): () => Browser {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedChromium();
  });
  afterAll(async () => {
    for (const it of browser?.contexts() ?? []) await it.close();
  });
  return () => browser;
}
