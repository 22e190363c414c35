import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import {
  fitting,
  type Installed,
  openScripts,
  staticScriptEndpoints,
} from "../../../../src/service/capture/sdk/static-scripts.ts";
import { newFolder } from "../../../support/folder.ts";
import { asker } from "./ask.ts";

const root = newFolder();
const app = join(root, "repo", "apps", "web");

/** Puts a posthog-js of this version below the folder, as npm does. */
function install(folder: string, version: string, files: readonly string[]): void {
  const home = join(folder, "node_modules", "posthog-js");
  mkdirSync(join(home, "dist"), { recursive: true });
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "posthog-js", version }));
  for (const name of files) writeFileSync(join(home, "dist", name), `/* ${version} ${name} */`);
}

beforeAll(() => {
  install(app, "1.449.2", ["array.js", "surveys.js", "surveys.js.map", "types.d.ts"]);
  install(join(root, "repo"), "1.300.0", ["array.js", "recorder.js"]);
  writeFileSync(join(root, "secret.js"), "secret");
  writeFileSync(join(app, "node_modules", "posthog-js", "secret.js"), "secret");
});

const ask = asker(staticScriptEndpoints(openScripts([app])));

describe("which file", () => {
  test.each([
    ["/static/array.js", "1.449.2 array.js"],
    ["/static/array.js/", "1.449.2 array.js"],
    ["//static/surveys.js?v=1.449.2", "1.449.2 surveys.js"],
    ["/static/1.449.2/surveys.js", "1.449.2 surveys.js"],
    ["/static/1.300.0/array.js", "1.300.0 array.js"],
    ["/static/recorder.js?v=1.300.0", "1.300.0 recorder.js"],
    ["/static/1/array.js", "1.449.2 array.js"],
    ["/static/1.300/array.js", "1.300.0 array.js"],
    ["/static/1.449.0/array.js", "1.449.2 array.js"],
    ["/static/array.js?v=1.200.0", "1.449.2 array.js"],
    ["/static/latest/array.js", "1.449.2 array.js"],
  ])("%s is %s", async (target, expected) => {
    const answer = await ask(target);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(`/* ${expected} */`);
    expect(answer.header("content-type")).toBe("application/javascript; charset=utf-8");
  });

  test("a source map is JSON", async () => {
    const answer = await ask("/static/surveys.js.map");
    expect(answer.header("content-type")).toBe("application/json");
    expect(answer.text).toBe("/* 1.449.2 surveys.js.map */");
  });
});

describe("nothing but scripts of the package", () => {
  test.each([
    "/static/..%2fsecret.js",
    "/static/..%2f..%2f..%2f..%2f..%2fsecret.js",
    "/static/..%5csecret.js",
    "/static/1.449.2/..%2fsecret.js",
    "/static/%2e%2e%2f..%2fpackage.json",
    "/static/..%2Fdist/array.js%00.map",
    "/static/package.json",
    "/static/types.d.ts",
    "/static/.hidden.js",
    "/static/recorder.js.map",
  ])("%s is not found", async (target) => {
    const answer = await ask(target);
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ code: "not_found" });
  });

  test("a version that is a path leads to no other folder", async () => {
    const answer = await ask("/static/..%2f..%2f/array.js");
    expect(answer.text).toBe("/* 1.449.2 array.js */");
  });
});

/** Runs a script and reports what it did to the page. */
function run(text: string) {
  const warnings: string[] = [];
  const window: Record<string, unknown> = {};
  runInNewContext(text, { window, console: { warn: (warning: string) => warnings.push(warning) } });
  return { window, warnings };
}

describe("stubs", () => {
  test("toolbar.js is not published on npm: its function does nothing", async () => {
    const { window, warnings } = run((await ask("/static/toolbar.js?v=1.449.2&t=1")).text);
    expect(window.ph_load_toolbar).toBeTypeOf("function");
    expect(warnings).toEqual([]);
  });

  test.each([
    ["no such script", "/static/nonsense.js", ask],
    ["only earlier versions", "/static/2.0.0/array.js", ask],
    ["nothing installed", "/static/array.js", asker(staticScriptEndpoints(openScripts([])))],
    ["a hostile version", "/static/array.js?v=%22);alert(1)//", asker(staticScriptEndpoints(openScripts([])))],
  ])("%s: a script that only warns", async (_what, target, asking) => {
    const answer = await asking(target);
    expect(answer.status).toBe(200);
    const { window, warnings } = run(answer.text);
    expect(window).toEqual({});
    expect(warnings).toEqual([expect.stringContaining("npm install posthog-js")]);
  });
});

describe("caching", () => {
  test("an unchanged script is not sent again", async () => {
    const etag = (await ask("/static/array.js")).header("etag") ?? "";
    const again = await ask("/static/array.js", { headers: { "if-none-match": etag } });
    expect(again).toMatchObject({ status: 304, body: null });
    expect(again.header("etag")).toBe(etag);
  });

  test("a changed script is read again", async () => {
    const home = join(root, "changing");
    install(home, "1.0.0", ["array.js"]);
    const asking = asker(staticScriptEndpoints(openScripts([home])));
    const first = await asking("/static/array.js");
    const file = join(home, "node_modules", "posthog-js", "dist", "array.js");
    writeFileSync(file, first.text.replace("1.0.0", "1.0.1"));
    utimesSync(file, 1, 1);
    const second = await asking("/static/array.js");
    expect(second.text).toContain("1.0.1");
    expect(second.header("etag")).not.toBe(first.header("etag"));
  });

  test("a package installed later is found", async () => {
    const home = join(root, "later");
    const asking = asker(staticScriptEndpoints(openScripts([home])));
    expect((await asking("/static/array.js")).header("etag")).toBe('"stub"');
    install(home, "1.0.0", ["array.js"]);
    expect((await asking("/static/array.js")).text).toContain("1.0.0");
  });
});

describe("fitting", () => {
  const of = (...versions: string[]): Installed[] => versions.map((version) => ({ version, dist: version }));

  test.each([
    ["nothing asked: the nearest", of("1.2.0", "1.9.0"), undefined, "1.2.0"],
    ["not a version: the nearest", of("1.2.0", "1.9.0"), "next", "1.2.0"],
    ["exact", of("1.9.0", "1.2.0"), "1.2.0", "1.2.0"],
    ["same minor before a later minor", of("1.9.0", "1.2.5"), "1.2.0", "1.2.5"],
    ["an earlier patch of the same minor", of("1.2.5"), "1.2.7", "1.2.5"],
    ["the newest later one", of("1.3.0", "1.10.0", "1.9.0"), "1.2.0", "1.10.0"],
    ["never an earlier minor", of("1.2.0"), "1.3.0", undefined],
    ["never another major", of("2.0.0"), "1.3.0", undefined],
    ["a major alone", of("1.2.0", "1.10.0", "2.0.0"), "1", "1.10.0"],
    ["nothing installed", of(), "1.0.0", undefined],
  ])("%s", (_what, all, asked, expected) => {
    expect(fitting(all, asked)?.version).toBe(expected);
  });
});
