import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

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
