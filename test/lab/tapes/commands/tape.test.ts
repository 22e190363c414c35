import { spawnSync } from "node:child_process";
import { on } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { endAll, newFolder, phxSim, runHere } from "../../../support/phx-sim.ts";
import { entryWith, harWith } from "../har/har-files.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});
afterEach(endAll);

const run = (...args: string[]) => runHere(["tape", ...args], { cwd });
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
const read = (name: string) => readFileSync(join(cwd, name), "utf8");

const key = `phx_${"a1B2c3D4".repeat(4)}`;
const get = (path: string, rest: JsonObject = {}) =>
  entryWith({ method: "GET", url: `https://us.posthog.com${path}`, postData: null, bodySize: 0 }, {}, rest);
const flags = entryWith({
  headers: [
    { name: "Authorization", value: `Bearer ${key}` },
    { name: "Content-Type", value: "application/json" },
  ],
});

/** A tape by the name of `some` in the folder. */
async function importSome(entries: JsonObject[] = [flags, get("/api/projects/1/dashboards/7/")]) {
  write("some.har", harWith(entries));
  expect(await run("import", "some.har")).toMatchObject({ code: 0 });
}

describe("import", () => {
  test("makes a tape of the HAR's name, without secrets", async () => {
    write("my shop.har", harWith([flags, get("/api/users/@me/"), entryWith({ url: "https://example.com/" })]));
    const { code, stdout, stderr } = await run("import", "my shop.har");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^.*\/tapes\/my-shop\.tape\.ndjson: 2 exchanges, .*, 2 secrets redacted\n$/);
    expect(stderr).toBe("phx-sim: 1 × left out: a request to another service (entry 3); --all imports every entry\n");
    expect(read("tapes/my-shop.tape.ndjson")).not.toContain(key);
    expect(await run("check", "my-shop")).toMatchObject({ code: 0, stdout: "" });
  });

  test("by another name, everything, for programs", async () => {
    write("some.har", harWith([flags, entryWith({ url: "https://example.com/" }, { content: { size: 5 } })]));
    const { code, stdout, stderr } = await run("import", "some.har", "--tape", "./x.ndjson", "--all", "--json");
    expect({ code, stderr: stderr.replace(/.*×.*\n/, "") }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      tape: join(cwd, "x.ndjson"),
      exchanges: 2,
      problems: [{ code: "no_answer_body", count: 1, entries: [2], skipped: false }],
    });
  });

  test("leaves no tape behind when it is killed", async () => {
    write("big.har", harWith(Array.from({ length: 20_000 }, (_, i) => get(`/api/projects/${i}/x/`))));
    mkdirSync(join(cwd, "tapes"));
    const watcher = watch(join(cwd, "tapes"));
    const importing = phxSim(["tape", "import", "big.har"], { cwd, isOwn: true });
    for await (const _ of on(watcher, "change")) if (existsSync(join(cwd, "tapes/big.tape.ndjson.new"))) break;
    expect(await importing.signal("SIGKILL")).toMatchObject({ code: null });
    watcher.close();
    expect(existsSync(join(cwd, "tapes/big.tape.ndjson"))).toBe(false);
    expect(await run("list")).toMatchObject({ stdout: expect.stringMatching(/^no tapes in /) });
    write("big.har", harWith([flags]));
    expect(await run("import", "big.har")).toMatchObject({ code: 0, stdout: expect.stringMatching(/1 exchange,/) });
    expect(readdirSync(join(cwd, "tapes"))).toEqual(["big.tape.ndjson"]);
  });

  test.skipIf(process.platform === "win32")("leaves no tape behind where it cannot be written", async () => {
    write("big.har", harWith(Array.from({ length: 200 }, (_, i) => get(`/api/projects/${i}/x/`))));
    const bin = join(import.meta.dirname, "../../../../bin/phx-sim.js");
    const limited = ["-c", `ulimit -f 16; exec "${process.execPath}" "${bin}" tape import big.har`];
    const { status, stdout, stderr } = spawnSync("sh", limited, { cwd, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/recording has stopped: .* a file may not grow that large here/);
    expect(readdirSync(join(cwd, "tapes"))).toEqual([]);
  });

  test("never goes into a tape that is there", async () => {
    await importSome();
    const before = read("tapes/some.tape.ndjson");
    expect(await run("import", "some.har")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/some\.tape\.ndjson already exists; give another name with --tape/),
    });
    expect(read("tapes/some.tape.ndjson")).toBe(before);
  });

  test.each<[string, string, RegExp]>([
    [
      "nothing of the service",
      harWith([entryWith({ url: "https://example.com/" })]),
      /nothing to import; 1 request to other services/,
    ],
    ["no entries", harWith([]), /nothing to import/],
    ["no HAR", "[]", /some\.har: it is not a HAR file/],
    ["nothing", "", /some\.har: it is empty/],
    ["half a HAR", harWith([flags, flags]).slice(0, -30), /some\.har: it is not JSON, or was cut off/],
  ])("a file with %s leaves no tape behind", async (_, text, message) => {
    write("some.har", text);
    expect(await run("import", "some.har")).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(existsSync(join(cwd, "tapes"))).toBe(false);
  });

  test("a file that is missing", async () => {
    expect(await run("import", "none.har")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/none\.har: there is no such file/),
    });
  });
});

describe("list and show", () => {
  test("a folder without tapes, and none", async () => {
    expect(await run("list")).toMatchObject({ code: 0, stdout: `no tapes in ${join(cwd, "tapes")}\n` });
    expect(await run("list", "nowhere")).toMatchObject({ code: 2, stderr: expect.stringMatching(/no such file/) });
  });

  test("tapes, and what only looks like one", async () => {
    await importSome();
    write("tapes/broken.tape.ndjson", "hello\n");
    const { code, stdout } = await run("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^broken {2}.*not a tape.*\nsome {2}2 exchanges, .* kB {2}Tool 7 {2}\d{4}-.*Z\n$/);
    const listed = await run("list", "tapes", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      folder: join(cwd, "tapes"),
      tapes: [
        { name: "broken", problem: expect.any(String) },
        { name: "some", exchanges: 2 },
      ],
    });
  });

  test("a line for each exchange, or all of one", async () => {
    await importSome();
    const { stdout } = await run("show", "some");
    expect(stdout).toMatch(/#1 {2}12:00:00\.000 {2}POST \/flags\/\?v=2 {2}200 {2}30 ms, 2 bytes {2}flags\n/);
    expect(stdout).toMatch(
      /#2 .* GET \/api\/projects\/1\/dashboards\/7\/ .* GET \/api\/projects\/:id\/dashboards\/:id\n/,
    );
    const one = await run("show", "tapes/some.tape.ndjson", "--exchange", "1");
    expect(one.stdout).toMatch(/Authorization: Bearer \{\{secret:\w+#1\}\}/);
    expect(one.stdout).toMatch(/"token": "\{\{secret:\w+#1\}\}"/);
    expect(one.stdout).toMatch(/redacted: req\.headers\.authorization, req\.body\.token\n$/);
  });

  test("--json is NDJSON", async () => {
    await importSome();
    const lines = (await run("show", "some", "--json")).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ tape: 1 }, { i: 1 }, { i: 2 }]);
    const one = await run("show", "some", "--json", "--exchange", "2");
    expect(JSON.parse(one.stdout)).toMatchObject({ i: 2, req: { method: "GET" } });
  });

  test("an exchange that does not exist", async () => {
    await importSome();
    expect(await run("show", "some", "--exchange", "9")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has no exchange 9; the highest number of its 2 is 2/),
    });
  });

  test.each([[[]], [["--json"]], [["--exchange", "1"]]])(
    "hostile text does not reach the terminal: %s",
    async (args) => {
      const evil = "\u001b]0;x\u0007\u202e\u009b2J";
      await importSome([
        entryWith(
          { headers: [{ name: "x-evil", value: evil }], postData: { text: evil } },
          { statusText: evil, content: { text: JSON.stringify({ [evil]: evil }) } },
        ),
      ]);
      const { code, stdout } = await run("show", "some", ...args);
      expect(code).toBe(0);
      expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    },
  );
});

describe("export", () => {
  test("is a HAR of the tape's name, for the next import", async () => {
    await importSome();
    write("some.har", "precious");
    expect(await run("export", "some")).toMatchObject({ code: 1, stderr: expect.stringMatching(/already exists/) });
    expect(read("some.har")).toBe("precious");
    expect(await run("export", "some", "--force")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/some\.har: 2 entries, .* kB\n$/),
    });
    expect(JSON.parse(read("some.har")).log.entries).toHaveLength(2);
    expect(await run("import", "some.har", "--tape", "again")).toMatchObject({ code: 0, stderr: "" });
  });

  test("is refused where a key would get out, and leaves nothing", async () => {
    await importSome();
    const [header = "", ...lines] = read("tapes/some.tape.ndjson").split("\n");
    write("tapes/bad.tape.ndjson", [header.replace("Tool 7", key), ...lines].join("\n"));
    expect(await run("export", "bad", "--out", "x/bad.har")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not exported: .* looks like a key/),
    });
    expect(readdirSync(join(cwd, "x"))).toEqual([]);
    expect(await run("export", "bad", "--out", "x/bad.har", "--unsafe")).toMatchObject({ code: 0 });
    expect(read("x/bad.har")).toContain(key);
  });

  test("to a place that cannot be written", async () => {
    await importSome();
    mkdirSync(join(cwd, "folder"));
    expect(await run("export", "some", "--out", "folder", "--force")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/folder: it is a folder/),
    });
  });
});

describe("check", () => {
  test("fails when there is a secret, and does not tell it", async () => {
    await importSome();
    write(
      "tapes/bad.tape.ndjson",
      read("tapes/some.tape.ndjson").replace('"/flags', `"${key}/flags`).replace('"OK"', `"${key}"`),
    );
    const { code, stdout, stderr } = await run("check", "some", "bad");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/looks? like a secret in 2 tapes/) });
    expect(stdout).toMatch(/bad\.tape\.ndjson:2: .*phx_\*\*\*\n/);
    expect(stdout).not.toContain(key);
    const found = (await run("check", "bad", "--json")).stdout.trimEnd().split("\n");
    expect(found.map((line) => JSON.parse(line))[0]).toMatchObject({ line: 2, kind: expect.any(String) });
  });

  test("reports what was checked, with rules of one's own", async () => {
    await importSome();
    const clean = await run("check", "some");
    expect(clean).toMatchObject({ code: 0, stdout: "" });
    expect(clean.stderr).toMatch(
      /checked \d+ exchanges? with \d+ places in .*some\.tape\.ndjson; \d+ redacted\n.*rules: gitleaks [\d.]+ \(MIT\) and built-in ones, \d+ patterns, names of fields, 0 rules of your own\n.*nothing that looks like a secret/,
    );
    write(
      "phx-sim.config.json",
      JSON.stringify({ redaction: { rules: [{ name: "word", pattern: "application" }], ignore: ["res.body.x"] } }),
    );
    const own = await run("check", "some", "--json");
    expect(own.code).toBe(1);
    const lines = own.stdout
      .trimEnd()
      .split("\n")
      .map((it) => JSON.parse(it));
    expect(lines.slice(0, -1).every((it) => it.kind === "word" && it.line >= 2 && it.path.length > 0)).toBe(true);
    expect(lines.at(-1)).toEqual({
      report: {
        tapes: 1,
        rule_set: { name: "gitleaks", version: expect.stringMatching(/^\d/), license: "MIT" },
        patterns: expect.any(Number),
        own_rules: 1,
        exchanges: expect.any(Number),
        damaged: 0,
        problems: [],
        side_files: expect.any(Number),
        places: expect.any(Number),
        redacted: expect.any(Number),
        findings: lines.length - 1,
        kinds: { word: lines.length - 1 },
        unusable: [],
        volatile: null,
      },
    });
  });

  test("a recorded reset is shown, and replayed", async () => {
    const reset = entryWith(
      { method: "GET", url: "https://us.posthog.com/api/x/", postData: null },
      { status: 0, _error: "net::ERR_CONNECTION_RESET" },
    );
    await importSome([flags, reset]);
    expect((await run("show", "some")).stdout).toMatch(/^#2 .* GET \/api\/x\/ {2}connection reset/m);
    expect((await run("check", "some")).stderr).not.toContain("never replayed");
  });

  test("fails when the tape is damaged, with the place", async () => {
    const large = { size: 70_000, mimeType: "application/json", text: JSON.stringify({ a: "x".repeat(70_000) }) };
    await importSome([
      flags,
      get("/api/x/"),
      entryWith({ method: "GET", url: "https://us.posthog.com/api/y/" }, { content: large }),
    ]);
    expect(await run("check", "some")).toMatchObject({ code: 0 });
    const whole = read("tapes/some.tape.ndjson").trimEnd().split("\n");
    const file = join(cwd, "tapes/some.tape.ndjson");
    write("tapes/some.tape.ndjson", [whole[0], "{", whole[2], whole[3], whole[1]?.slice(0, 90)].join("\n"));
    const sides = readdirSync(join(cwd, "tapes/some.tape.d"));
    write(`tapes/some.tape.d/${sides[0]}`, "another text");
    const { code, stderr } = await run("check", "some");
    expect(code).toBe(1);
    expect(stderr).toMatch(/3 damaged places: a replay does not have what was there:\n/);
    expect(stderr).toContain(`  ${file}:2: it is not JSON (`);
    expect(stderr).toMatch(/some\.tape\.ndjson:4: side file [0-9a-f]{64}: its content is not what was recorded/);
    expect(stderr).toContain(`  ${file}:5: it is unfinished: the recording was cut off (`);
    expect(await run("export", "some", "--out", "damaged.har")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("damaged.har: "),
      stderr: expect.stringContaining("the tape is damaged: 3 lines passed over"),
    });
    const json = await run("check", "some", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).report).toMatchObject({
      damaged: 3,
      problems: [{ line: 2 }, { line: 4 }, { line: 5 }],
    });
  });

  test("rules that cannot be used are named with their place", async () => {
    await importSome();
    write("phx-sim.config.json", '{"redaction": {"rules": [{"name": "a", "pattern": "("}]}}');
    const { code, stderr } = await run("check", "some");
    expect({ code, lines: stderr.trimEnd().split("\n").length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toMatch(/phx-sim\.config\.json:1:51: "redaction\.rules\[0\]\.pattern" is no regular expression/);
  });

  test("rules of the config file are applied on import, and the tape carries them", async () => {
    write("phx-sim.config.json", '{"redaction": {"rules": [{"name": "page", "path": "req.path"}]}}');
    await importSome();
    const [header = "", line = ""] = read("tapes/some.tape.ndjson").split("\n");
    expect(JSON.parse(header)).toMatchObject({ rules: { rules: [{ name: "page", path: "req.path" }], keep: [] } });
    expect(JSON.parse(line).req.url).toContain("%7B%7Bsecret%3Apage%231%7D%7D");
  });
});

describe("check of exchanges", () => {
  test("lists the exchanges that are never replayed", async () => {
    const aborted = entryWith({ method: "GET", url: "https://us.posthog.com/api/x/", postData: null }, { status: 0 });
    await importSome([flags, aborted]);
    const { code, stderr } = await run("check", "some");
    expect(code).toBe(0);
    expect(stderr).toMatch(/1 exchange never replayed:\n {2}.*some\.tape\.ndjson #2: no response was recorded\n/);
    const { report } = JSON.parse((await run("check", "some", "--json")).stdout);
    expect(report.unusable).toEqual([
      { file: join(cwd, "tapes/some.tape.ndjson"), i: 2, why: "no response was recorded" },
    ]);
  });

  const answering = (mood: string) => [
    get("/api/projects/1/dashboards/7/"),
    entryWith(
      { method: "GET", url: "https://us.posthog.com/api/users/@me/", postData: null },
      { content: { text: JSON.stringify({ name: "Ann", mood }) } },
    ),
  ];

  test("lists what differs from another recording of the same session", async () => {
    write("a.har", harWith(answering("happy")));
    write("b.har", harWith(answering("tired")));
    await run("import", "a.har");
    await run("import", "b.har");
    const { code, stderr } = await run("check", "a", "--twin", "b");
    expect(code).toBe(0);
    expect(stderr).toMatch(/1 path differs? between the recordings; .*:\n {2}res\.body\.mood\n/);
    const { report } = JSON.parse((await run("check", "a", "--twin", "b", "--json")).stdout);
    expect(report.volatile).toEqual(["res.body.mood"]);
    expect((await run("check", "a", "--twin", "a")).stderr).toMatch(/differ in nothing/);
    expect(await run("check", "a", "b", "--twin", "a")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--twin compares one tape with another/),
    });
  });
});

test.each([[["show"]], [["export"]], [["check"]], [["check", "some", "--twin"]]])(
  "tape %s: what is no tape, missing or newer gets a clear answer",
  async ([command = "", ...first]) => {
    await importSome();
    write("tapes/text.tape.ndjson", "hello\n");
    write("tapes/newer.tape.ndjson", '{"tape":2}\n');
    const said = await Promise.all(["none", "text", "newer"].map((name) => run(command, ...first, name)));
    expect(said.map(({ code }) => code)).toEqual([2, 1, 1]);
    expect(said[0]?.stderr).toMatch(/^phx-sim: .*none\.tape\.ndjson cannot be read: there is no such file; .*\n$/);
    expect(said[1]?.stderr).toMatch(/^phx-sim: .*text\.tape\.ndjson is not a tape.*\n$/);
    expect(said[2]?.stderr).toMatch(/^phx-sim: .*newer\.tape\.ndjson .*2.*\n$/);
  },
);
