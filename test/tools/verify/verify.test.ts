import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../../src/lab/tapes/format/exchange.ts";
import type { TapeHeader } from "../../../src/lab/tapes/format/header.ts";
import { createRedactor } from "../../../src/lab/tapes/redact/redactor.ts";
import { openSim, recorded, tour } from "../../lab/tapes/verify/recorded.ts";
import { newFolder, runHere } from "../../support/phx-sim.ts";

const header: TapeHeader = {
  tape: 1,
  id: "019b7ca9-940d-7e16-8e39-b814ba8712bd",
  created: "2026-01-02T03:04:05Z",
  creator: "a test",
  upstream: "https://us.posthog.com",
  redaction: "default",
  noise: [],
};

/** What the production dialect answers on the tour. */
let exchanges: Exchange[];
let cwd: string;
beforeAll(async () => {
  const { redact } = createRedactor();
  const sim = await openSim("production");
  exchanges = (await recorded(sim, tour)).map((it) => redact(it));
  await sim.close();
});
beforeEach(() => {
  cwd = newFolder();
  mkdirSync(join(cwd, "tapes"));
});

function tape(name: string, lines: readonly unknown[], over: Partial<TapeHeader> = {}): void {
  const text = [{ ...header, ...over }, ...lines].map((it) => (typeof it === "string" ? it : JSON.stringify(it)));
  writeFileSync(join(cwd, "tapes", `${name}.tape.ndjson`), `${text.join("\n")}\n`);
}
const run = (...args: string[]) => runHere(args, { cwd });

describe("verify", () => {
  test("the same dialect passes, and says what has another value", async () => {
    tape("shop", exchanges);
    const { code, stdout, stderr } = await run("verify", "shop", "--dialect", "production");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/value +1× {2}body\.results\[\]\.member_count: another value/);
    expect(stdout).toMatch(
      /tapes\/shop\.tape\.ndjson: 20 of 20 exchanges compared with the production dialect: 2 values\n$/,
    );
  });

  test("the other dialect fails, by route and severity", async () => {
    tape("shop", exchanges);
    const { code, stdout, stderr } = await run("verify", "shop", "--junit", "verify.xml");
    expect(code).toBe(1);
    expect(stderr).toBe("phx-sim: 5 breaks (tapes/shop.tape.ndjson)\n");
    expect(stdout).toMatch(/^GET \/api\/users\/@me \(1 response\)\n {2}break +1× {2}body\.organization\.metadata: /);
    const xml = readFileSync(join(cwd, "verify.xml"), "utf8");
    expect(xml).toMatch(/<testsuite name="phx-sim verify" tests="\d+" failures="3" /);
    expect(xml).toContain('<testcase classname="phx-sim verify" name="capture"><failure type="break"');
    expect(xml).toContain('name="flags"><system-out>value 1 of 2: ');
  });

  test.each([
    ["value", 1],
    ["additive", 0],
    ["break", 0],
  ])("--fail-on %s", async (severity, expected) => {
    tape("shop", exchanges);
    const { code } = await run("verify", "shop", "--dialect", "production", "--fail-on", severity);
    expect(code).toBe(expected);
  });

  test("--json is one line for programs", async () => {
    tape("shop", exchanges, { noise: ["res.body.organization.member_count"] });
    const { code, stdout } = await run("verify", "shop", "--dialect", "production", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      tape: join(cwd, "tapes/shop.tape.ndjson"),
      exchanges: 20,
      compared: 20,
      dialect: "production",
      skipped: {},
      groups: [{ route: "GET /api/organizations", severity: "value", count: 1, of: 1, first: 2 }],
      damaged: 0,
    });
  });

  test("what cannot be compared is reported", async () => {
    const [first] = exchanges;
    tape("odd", [first, { ...first, res: null }, { ...first, complete: false }]);
    const { code, stdout } = await run("verify", "odd", "--dialect", "production");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^not compared: 2 cut off, or without a response$/m);
  });

  test("a damaged tape fails, also where the rest is equal", async () => {
    tape("odd", [exchanges[0], "{", "[]"]);
    const args = ["verify", "odd", "--dialect", "production", "--junit", "odd.xml"];
    expect(await run(...args)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("1 of 1 exchange compared"),
      stderr:
        "phx-sim: 2 lines of the tape passed over; line 3: it is not JSON\n" +
        "phx-sim: the tape is damaged: 2 lines passed over (tapes/odd.tape.ndjson)\n",
    });
    expect(readFileSync(join(cwd, "odd.xml"), "utf8")).toContain('<failure type="tape" message="the tape is');
    expect(JSON.parse((await run(...args, "--json")).stdout)).toMatchObject({ ok: false, damaged: 2 });
  });

  test("hostile text does not reach the terminal", async () => {
    const [first] = exchanges;
    const evil = { ...first, route: "\u001b[2J<&>", res: { ...first?.res, body: { json: { "\u001b[31m": 1 } } } };
    tape("evil", [evil]);
    const { code, stdout, stderr } = await run("verify", "evil", "--junit", "evil.xml");
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(readFileSync(join(cwd, "evil.xml"), "utf8")).toContain('name="\ufffd[2J&lt;&amp;&gt;"');
  });

  test.each<[string, readonly unknown[] | undefined, number, RegExp]>([
    ["none", undefined, 2, /none\.tape\.ndjson.*there is no such file/],
    ["empty", [], 1, /there was nothing to compare/],
  ])("a tape that is no use: %s", async (name, lines, expected, message) => {
    if (lines) tape(name, lines);
    const { code, stderr } = await run("verify", name);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringMatching(message) });
  });

  test.each([
    [["verify"], /needs TAPE/],
    [["verify", "shop", "--fail-on", "all"], /--fail-on must be break, additive or value, not "all"/],
    [["verify", "shop", "--dialect", "klingon"], /--dialect must be documented or production/],
  ])("usage: %s", async (args, message) => {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });
});
