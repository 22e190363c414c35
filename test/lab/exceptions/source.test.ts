import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { frameSource } from "../../../src/lab/exceptions/frame-source.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { newFolder } from "../../support/folder.ts";

let outside: string;
let root: string;

const secret = "SECRET=1\n".repeat(9);

function put(path: string, text: string | Buffer, at = root): string {
  const file = join(at, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  return file;
}

const code = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join("\n");

beforeAll(() => {
  outside = newFolder();
  root = join(outside, "app");
  mkdirSync(root);
  put("secret.ts", secret, outside);
  put("app-other/secret.ts", secret, outside);
  put("src/app.ts", code);
  put("my file.ts", code);
  put(".env", secret);
  put(".git/hook.js", secret);
  put("src/.secret.ts", secret);
  put("notes.txt", secret);
  put("id_rsa", secret);
  put("big.ts", "x\n".repeat(1_000_001));
  put("binary.js", Buffer.from([1, 0, 2, 10, 10, 10, 10, 10]));
  put("windows.ts", code.replaceAll("\n", "\r\n"));
  put("dist/served.js", code);
  put(".next/server/page.js", code);
  mkdirSync(join(root, "folder.ts"));
  symlinkSync(join(outside, "secret.ts"), join(root, "link.ts"));
  symlinkSync(outside, join(root, "up"));
  symlinkSync(join(root, ".env"), join(root, "env.ts"));
  symlinkSync(join(root, "src"), join(root, "linked"));
  symlinkSync("loop.ts", join(root, "loop.ts"));
});

const eventWith = (frame: JsonObject): StoredEvent => ({
  ...{ seq: 1, outcome: "kept", reason: null, detail: null, warnings: [], project: 1, uuid: null },
  ...{ event: "$exception", distinct_id: "u", timestamp: "2026-01-01T00:00:00.000Z" },
  ...{ received_at: "2026-01-01T00:00:00.000Z", person_id: null, person_mode: "none", request: 1 },
  properties: { $exception_list: [{ type: "Error", value: "x", stacktrace: { frames: [frame] } }] },
});

const sourceOf = (filename: string, more: JsonObject = {}, sourceFolder: string | null = root) =>
  frameSource({ clock: systemClock, sourceFolder }, eventWith({ filename, lineno: 8, colno: 1, ...more }), {
    cause: 0,
    frame: 0,
  });

describe("the source of a frame", () => {
  test("is the lines around it, and whether the file changed since", async () => {
    const source = await sourceOf("src/app.ts");
    expect(source).toMatchObject({ why: null, path: "src/app.ts", line: 8, map: null, changed: false });
    expect(source.lines.map(({ n }) => n)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(source.lines[5]).toEqual({ n: 8, text: "line 8" });
    utimesSync(join(root, "src/app.ts"), 1_900_000_000, 1_900_000_000);
    expect((await sourceOf("src/app.ts")).changed).toBe(true);
  });

  test.each([
    "src/app.ts",
    "./src/app.ts",
    "linked/app.ts",
    "http://localhost:5173/src/app.ts?t=123",
    "https://shop.localhost/app.ts",
    "http://127.0.0.1:3000/served.js",
    "http://[::1]:3000/my%20file.ts",
    "webpack-internal:///./src/app.ts",
    "webpack-internal:///(rsc)/./src/app.ts",
    "webpack://shop/./src/app.ts?1a2b",
    ".next/server/page.js",
    "http://localhost:3000/_next/server/page.js",
    "windows.ts",
  ])("is found for %s", async (name) => {
    expect((await sourceOf(name)).lines[5]).toEqual({ n: 8, text: "line 8" });
  });

  test("is found for absolute paths and file URLs", async () => {
    for (const name of [
      join(root, "src/app.ts"),
      `file://${root}/src/app.ts`,
      `http://localhost:1/@fs${root}/src/app.ts`,
    ])
      expect((await sourceOf(name)).path).toBe("src/app.ts");
  });

  test.each([
    "../secret.ts",
    "src/../../secret.ts",
    "../app-other/secret.ts",
    "..",
    "",
    "/etc/passwd",
    "/etc/hosts.ts",
    "/dev/zero",
    "/proc/self/environ",
    "file:///etc/passwd",
    "file://host/share/x.ts",
    "http://localhost/../secret.ts",
    "http://localhost/%2e%2e/secret.ts",
    "http://localhost/..%2fsecret.ts",
    "http://localhost/%2e%2e%2fsecret.ts",
    "http://localhost/@fs/etc/passwd",
    "http://localhost/%ff.ts",
    "http://evil.test/src/app.ts",
    "https://127.0.0.1.evil.test/src/app.ts",
    "ftp://localhost/src/app.ts",
    "link.ts",
    "up/secret.ts",
    "up/app/../secret.ts",
    "env.ts",
    ".env",
    "src/.secret.ts",
    ".git/hook.js",
    "notes.txt",
    "id_rsa",
    "package.json",
    "folder.ts",
    "loop.ts",
    "big.ts",
    "binary.js",
    "missing.ts",
    "src/app.ts\0.png",
    "..\\secret.ts",
    "x".repeat(9_000),
  ])("is refused for %s", async (name) => {
    const source = await sourceOf(name);
    expect(source.lines).toEqual([]);
    expect(source.why).toMatch(/\w/);
    expect(JSON.stringify(source)).not.toContain("SECRET");
  });

  test("is refused if others reach the sim, for a missing line, and for a frame that does not exist", async () => {
    expect((await sourceOf("src/app.ts", {}, null)).why).toBe("a sim that others can reach reads no sources");
    expect((await sourceOf("src/app.ts", { lineno: 0 })).why).toBe("the frame has no line");
    expect((await sourceOf("src/app.ts", { lineno: 99 })).why).toBe("src/app.ts has fewer lines than 99");
    const ports = { clock: systemClock, sourceFolder: root };
    expect((await frameSource(ports, eventWith({}), { cause: 3, frame: 0 })).why).toBe("the event has no such frame");
  });

  test("says that the lines may differ if a development server changed the file", async () => {
    expect((await sourceOf("http://localhost:5173/src/app.ts")).note).toMatch(/lines may differ/);
  });

  test("has no verdict on changes if the sim's clock is not the machine's", async () => {
    const ports = { clock: { now: () => 0 }, sourceFolder: root };
    const event = eventWith({ filename: "src/app.ts", lineno: 8 });
    expect((await frameSource(ports, event, { cause: 0, frame: 0 })).changed).toBeNull();
  });
});

describe("a source map", () => {
  const written = "type A = 1;\n\nexport const f = (): A => {\n  throw new Error('x');\n};\n";
  const compile = (sourcemap: "inline" | "external", sourcefile: string) =>
    transformSync(written, { loader: "ts", sourcemap, sourcefile });
  /** Where esbuild puts the throw. */
  const position = { lineno: 2, colno: 3 };

  test("beside the file leads to the author's file", async () => {
    const { code: js, map } = compile("external", "../src/written.ts");
    put("src/written.ts", written);
    put("dist/beside.js", `${js}//# sourceMappingURL=beside.js.map\n`);
    put("dist/beside.js.map", map);
    const source = await sourceOf("dist/beside.js", position);
    expect(source).toMatchObject({ path: "src/written.ts", line: 4, column: 3, map: "dist/beside.js.map" });
    expect(source.lines.find(({ n }) => n === 4)?.text).toBe("  throw new Error('x');");
  });

  test("inline leads to the text it contains, if the author's file does not exist", async () => {
    put("dist/inline.js", compile("inline", "gone.ts").code);
    const source = await sourceOf("dist/inline.js", position);
    expect(source).toMatchObject({ path: "gone.ts", line: 4, map: "inline in dist/inline.js", why: null });
  });

  test.each([
    ["no JSON", "//# sourceMappingURL=m.map", "{"],
    ["no map", "//# sourceMappingURL=m.map", "7"],
    ["wrong mappings", "//# sourceMappingURL=m.map", '{"version":3,"sources":["a"],"names":[],"mappings":"!!;!!"}'],
    ["broken base64", "//# sourceMappingURL=data:application/json;base64,####", ""],
    ["broken escapes", "//# sourceMappingURL=data:application/json,%ff", ""],
    ["outside", "//# sourceMappingURL=../../secret.ts.map", ""],
    ["a URL", "//# sourceMappingURL=http://127.0.0.1:1/x.map", ""],
  ])("that is broken is said to be, and the generated lines are shown: %s", async (name, comment, map) => {
    const file = `dist/broken-${name.replaceAll(" ", "-")}.js`;
    put(file, `a\nb();\n${comment}\n`);
    if (map !== "") put("dist/m.map", map);
    const source = await sourceOf(file, position);
    expect(source).toMatchObject({ path: file, line: 2, map: null, why: null });
    expect(source.lines.find(({ n }) => n === 2)?.text).toBe("b();");
  });

  test.each(["../../secret.ts", "../.env", "file:///etc/passwd", "/etc/passwd", "../up/secret.ts"])(
    "that leads to %s reads nothing there",
    async (source) => {
      const map = { version: 3, sources: [source], names: [], mappings: "AAAA;AACA" };
      put("dist/evil.js", "a\nb();\n//# sourceMappingURL=evil.js.map\n");
      put("dist/evil.js.map", JSON.stringify(map));
      const found = await sourceOf("dist/evil.js", position);
      expect(found).toMatchObject({ path: "dist/evil.js", map: null });
      expect(found.note).toMatch(/cannot be read/);
      expect(JSON.stringify(found)).not.toContain("SECRET");
    },
  );
});
