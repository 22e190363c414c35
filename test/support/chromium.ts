import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";

/** An executable that may be a Chromium. */
interface Candidate {
  /** Where it was found, for the report. */
  from: string;
  path: string;
  /** What it needs in its environment in addition to ours. */
  env?: Record<string, string>;
}

/** What the search looks at. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  arch: string;
  home: string;
}

export const here = (): Surroundings => ({
  env: process.env,
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

const commands = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];

/** Applications that are not on the PATH. */
const applications: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ],
};

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const foldersIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true }).flatMap((it) =>
        it.isDirectory() ? [join(path, it.name)] : [],
      )
    : [];

const fromEnvironment = ({ env }: Surroundings): Candidate[] =>
  variables.flatMap((name) => {
    const path = env[name];
    return path ? [{ from: name, path }] : [];
  });

function fromSystem({ env, platform }: Surroundings): Candidate[] {
  const suffix = platform === "win32" ? ".exe" : "";
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = commands.flatMap((name) => folders.map((folder) => join(folder, name + suffix)));
  return [...onPath, ...(applications[platform] ?? [])].map((path) => ({ from: "the system", path }));
}

/** Where Playwright keeps the browsers it has downloaded. */
function playwrightCache({ env, platform, home }: Surroundings): string {
  if (env.PLAYWRIGHT_BROWSERS_PATH) return env.PLAYWRIGHT_BROWSERS_PATH;
  if (platform === "darwin") return join(home, "Library", "Caches", "ms-playwright");
  if (platform === "win32") return join(env.LOCALAPPDATA ?? home, "ms-playwright");
  return join(home, ".cache", "ms-playwright");
}

const playwrightNames = [
  "chrome",
  "chrome-headless-shell",
  "headless_shell",
  "chrome.exe",
  "chrome-headless-shell.exe",
  join("Chromium.app", "Contents", "MacOS", "Chromium"),
];

const fromPlaywright = (around: Surroundings): Candidate[] =>
  foldersIn(playwrightCache(around))
    .filter((folder) => /[\\/]chromium[^\\/]*$/.test(folder))
    .toSorted()
    .toReversed()
    .flatMap(foldersIn)
    .flatMap((folder) => playwrightNames.map((name) => join(folder, name)))
    .map((path) => ({ from: "Playwright's cache", path }));

/** Every installed executable that may be a Chromium, best first. */
export const installedCandidates = (around: Surroundings): Candidate[] =>
  [...fromEnvironment(around), ...fromSystem(around), ...fromPlaywright(around)].filter(({ path }) =>
    isFile(path),
  );

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
}: Surroundings): Promise<Candidate | undefined> {
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

/** Quiet and alone: no GPU, no QUIC, no calls home. */
const args = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts one candidate, headless, with a new empty profile. Playwright itself passes --no-sandbox. */
export const launch = (candidate: Candidate, more: readonly string[] = []): Promise<Browser> =>
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
 * Variables for a process that starts a browser of its own: `CHROMIUM_PATH`, and what that one needs in addition.
 * @throws Error when there is none
 */
export async function chromiumEnv(around: Surroundings = here()): Promise<Record<string, string>> {
  const candidate = installedCandidates(around)[0] ?? (await packagedCandidate(around));
  if (!candidate) throw new Error(advice);
  return { CHROMIUM_PATH: candidate.path, ...candidate.env };
}

/**
 * Starts the first Chromium that starts: from the environment, the system, Playwright's cache, or the npm
 * package `@sparticuz/chromium`.
 * @param more Further arguments
 * @throws Error that says how to get one, and what was tried
 */
export async function launchChromium(
  around: Surroundings = here(),
  more: readonly string[] = [],
): Promise<Browser> {
  const tried: string[] = [];
  const attempt = async (from: string, find: () => Promise<Candidate | undefined>) => {
    try {
      const candidate = await find();
      return candidate && (await launch(candidate, more));
    } catch (error) {
      tried.push(`${from}: ${firstLine(error)}`);
      return undefined;
    }
  };
  for (const candidate of installedCandidates(around)) {
    const browser = await attempt(`${candidate.from} (${candidate.path})`, async () => candidate);
    if (browser) return browser;
  }
  const browser = await attempt("@sparticuz/chromium", () => packagedCandidate(around));
  if (browser) return browser;
  throw new Error([advice, ...tried].join("\n"));
}
