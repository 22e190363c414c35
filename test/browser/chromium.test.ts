import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ChromiumSurroundings, installedChromiums, thisMachine } from "../../src/tools/check/browser/chromium.ts";
import { launch, launchChromium, packagedCandidate } from "../support/chromium.ts";
import { newFolder } from "../support/folder.ts";

const root = newFolder();

function file(...parts: string[]): string {
  const path = join(root, ...parts);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "#!/bin/sh\necho this is no browser >&2\nexit 1\n", { mode: 0o755 });
  return path;
}

const bare: ChromiumSurroundings = { env: {}, platform: "linux", arch: "none", home: join(root, "empty") };

describe("where a Chromium is looked for", () => {
  const named = file("named", "my-chrome");
  const onPath = file("bin", "chromium");
  const later = file("bin2", "google-chrome");
  const cached = file("home", ".cache", "ms-playwright", "chromium-1200", "chrome-linux64", "chrome");
  file("home", ".cache", "ms-playwright", "firefox-1500", "firefox", "chrome");

  test.each<[string, Partial<ChromiumSurroundings>, string[]]>([
    ["nowhere", {}, []],
    ["the environment", { env: { CHROMIUM_PATH: named } }, [named]],
    ["a path that does not exist is passed over", { env: { CHROME_BIN: join(root, "no") } }, []],
    ["the PATH", { env: { PATH: `${root}/bin2:${root}/bin` } }, [onPath, later]],
    ["Playwright's cache", { home: join(root, "home") }, [cached]],
    [
      "Playwright's cache elsewhere",
      { env: { PLAYWRIGHT_BROWSERS_PATH: join(root, "home", ".cache", "ms-playwright") } },
      [cached],
    ],
    [
      "all, best first",
      { env: { PATH: `${root}/bin`, CHROME_PATH: named }, home: join(root, "home") },
      [named, onPath, cached],
    ],
  ])("%s", (_what, around, expected) => {
    expect(installedChromiums({ ...bare, ...around }).map((it) => it.path)).toEqual(expected);
  });
});

test("without any, the error says how to get one and what was tried", async () => {
  const fake = file("fake", "chromium");
  const failing = launchChromium({ ...bare, env: { CHROMIUM_PATH: fake } });
  await expect(failing).rejects.toThrow(/apt-get install chromium.*CHROMIUM_PATH.*\n.*fake.chromium/);
});

const hasPackage = process.platform === "linux" && process.arch === "x64";

test.runIf(hasPackage)("the npm package's Chromium runs with its own libraries", async () => {
  const candidate = await packagedCandidate(thisMachine());
  if (!candidate) throw new Error("@sparticuz/chromium is not installed: npm ci");
  const browser = await launch(candidate);
  try {
    const page = await browser.newPage();
    // An input field needs a font: the package brings its own.
    await page.goto("data:text/html,<h1>here</h1><input>");
    expect(await page.textContent("h1")).toBe("here");
  } finally {
    await browser.close();
  }
});
