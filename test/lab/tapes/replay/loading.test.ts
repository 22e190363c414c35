import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type SimOptions, StartError, startSim } from "../../../../src/index.ts";
import { control } from "../../../support/control.ts";
import { newFolder } from "../../../support/folder.ts";
import { linesOf } from "../format/fixture.ts";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

const dashboards = "GET /api/projects/1/dashboards/";
const tape = (name?: string) => tapeOf([exchange(dashboards, answer({ results: [] }))], name);

function fileOf(text: string): string {
  const file = join(newFolder(), "bad.tape.ndjson");
  writeFileSync(file, text);
  return file;
}

describe("at run time", () => {
  test("a tape is put in force, replaced and taken out", async () => {
    const sim = await started({});
    const headers = { authorization: `Bearer ${sim.personalApiKey}` };
    const sourceNow = async () => (await asked(sim, dashboards, { headers })).source;
    expect([await sim.tapes.get(), await sim.tapes.unload(), await sourceNow()]).toEqual([null, null, "emulator"]);
    expect(await sim.tapes.load(await tape("one"), { onMiss: "emulate", timing: "max:5" })).toMatchObject({
      name: "one",
      upstream: "https://us.i.posthog.com",
      mode: "replay",
      on_miss: "emulate",
      timing: "max:5",
      problems: [],
      ledger: { total: 1, hits: 0, unused_count: 1, miss_count: 0 },
    });
    expect(await sourceNow()).toBe("tape:one#1");
    await sim.tapes.load(await tape("two"));
    expect(await sourceNow()).toBe("tape:two#1");
    expect(await sim.info()).toMatchObject({ tape: { name: "two", mode: "replay", on_miss: "fail" } });
    expect(await sim.tapes.unload()).toMatchObject({ name: "two", ledger: { hits: 1 } });
    expect([await sourceNow(), (await sim.info()).tape]).toEqual(["emulator", null]);
  });

  test("a tape's name in a header is harmless", async () => {
    const sim = await started({ tape: await tape("a b;\u00fc") });
    expect((await asked(sim, dashboards)).source).toBe("tape:a_b__#1");
  });

  test.each([
    [{}, "/tape"],
    [{ tape: "" }, "/tape"],
    [{ tape: 3 }, "/tape"],
    [{ tape: "never-recorded" }, "/tape"],
    [{ tape: "x", tpae: 1 }, "/tpae"],
    [{ tape: "x", mode: "record" }, "/mode"],
    [{ tape: "x", mode: null }, "/mode"],
    [{ tape: "x", on_miss: "upstream" }, "/on_miss"],
    [{ tape: "x", timing: "soon" }, "/timing"],
    ["[]", ""],
  ])("POST /__sim/tapes %j is refused at %s; the tape in force stays", async (body, pointer) => {
    const sim = await started({ tape: await tape() });
    const { status, answer: said } = await control(sim, "POST", "tapes", body);
    expect([status, said.code, said.pointer]).toEqual([400, "invalid_input", pointer]);
    expect(await sim.tapes.get()).toMatchObject({ name: "checkout" });
  });

  test("rewinding needs a tape", async () => {
    const sim = await started({});
    await expect(sim.tapes.rewind()).rejects.toMatchObject({ status: 404, code: "not_found" });
    expect((await control(sim, "POST", "tapes/rewind", { clinet: "a" })).answer.pointer).toBe("/clinet");
  });
});

describe("a sim that cannot start", () => {
  test.each<[string, () => SimOptions, RegExp]>([
    [
      "no such file",
      () => ({ tape: join(newFolder(), "gone.tape.ndjson") }),
      /gone\.tape\.ndjson cannot be read: there is no such file/,
    ],
    ["a folder", () => ({ tape: newFolder() }), /it is a folder/],
    ["no tape", () => ({ tape: fileOf("hello\n") }), /bad\.tape\.ndjson is not a tape.*:1\)/],
    ["empty", () => ({ tape: fileOf("") }), /it is empty/],
    ["a HAR", () => ({ tape: fileOf('{"log":{}}\n') }), /is not a tape/],
    ["newer", () => ({ tape: fileOf('{"tape":99}\n') }), /format 99/],
    ["a mode without a tape", () => ({ mode: "replay" }), /there is no tape to replay/],
    ["a policy without a tape", () => ({ onMiss: "emulate" }), /there is no tape to replay/],
    ["no upstream", () => ({ tape: fileOf(""), onMiss: "upstream" }), /onMiss must be fail or emulate/],
    ["no such timing", () => ({ tape: fileOf(""), timing: "soon" }), /timing must be none, recorded/],
  ])("%s", async (_, options, expected) => {
    const error = await startSim(options()).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(StartError);
    expect(error).toMatchObject({
      code: "tape",
      message: expect.stringMatching(expected),
      hint: expect.stringMatching(/\w/),
    });
  });

  test("lets go of its data folder", async () => {
    const data = newFolder();
    await expect(startSim({ data, tape: fileOf("") })).rejects.toThrow("not a tape");
    await started({ data });
  });
});

test("damaged lines are reported and left out", async () => {
  const file = await tapeOf([
    exchange(dashboards, answer({ a: 1 })),
    exchange("GET /api/users/@me/", answer({ b: 1 })),
  ]);
  const [header = "", first = "", second = ""] = linesOf(file);
  writeFileSync(file, [header, first.slice(0, 40), second, ""].join("\n"));
  const notices: string[] = [];
  const sim = await started({ tape: file, onNotice: (text) => notices.push(text) });
  expect(notices).toEqual([expect.stringContaining(`${file}:2: `)]);
  expect(await sim.tapes.get()).toMatchObject({ problems: [{ line: 2 }], ledger: { total: 1 } });
  expect((await asked(sim, "GET /api/users/@me/")).source).toBe("tape:checkout#2");
});

test("recorded times are waited for when asked to", async () => {
  const slow = exchange(dashboards, answer({ a: 1 }, { ttfb: 55_000, total: 56_000 }));
  const sim = await started({ tape: await tapeOf([slow]), timing: "recorded" });
  const waiting = asked(sim, dashboards);
  await expect.poll(async () => (await sim.info()).in_flight).toBe(1);
  await sim.close();
  expect(await waiting).toMatchObject({ status: 200, source: "tape:checkout#1" });
});
