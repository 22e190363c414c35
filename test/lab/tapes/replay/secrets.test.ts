import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type RedactionRules, StartError, startSim } from "../../../../src/index.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { readRules, tapeRules } from "../../../../src/lab/tapes/redact/rules.ts";
import { newFolder } from "../../../support/folder.ts";
import { answer, asked, exchange, started, tapeOf, upstream } from "./tapes.ts";

const things = "POST /api/projects/1/things/";
const token = (letter: string): string => `glpat-${letter.repeat(20)}`;
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

describe("a place that has a placeholder matches any value", () => {
  const notes = ["first", "second"];
  const tape = () =>
    tapeOf(
      notes.map((name) =>
        exchange(things, answer({ name }), {
          body: { note: `${name}: use ${token("a")} today`, data: base64({ name, key: token("b") }) },
        }),
      ),
    );

  test.each([
    ["another secret", (letter: string) => token(letter.toUpperCase())],
    ["a dummy", () => "dummy"],
    ["nothing", () => ""],
  ])("%s", async (_, secret) => {
    const sim = await started({ tape: await tape() });
    for (const name of [...notes, ...notes]) {
      const body = { note: `${name}: use ${secret("a")} today`, data: base64({ name, key: secret("b") }) };
      const { text } = await asked(sim, things, { body });
      expect(JSON.parse(text)).toEqual({ name });
    }
  });

  test("what is around it still counts, and the report compares no stars", async () => {
    const sim = await started({ tape: await tape() });
    const body = { note: `first: use ${token("c")} tomorrow`, data: base64({ name: "first", key: token("d") }) };
    const { status, text } = await asked(sim, things, { body });
    expect(status).toBe(599);
    expect(JSON.parse(text).nearest[0]).toMatchObject({
      differing: [{ path: "req.body.note", recorded: "first: use *** today", asked: "first: use *** tomorrow" }],
    });
    for (const letter of "abcd") expect(text).not.toContain(token(letter));
  });

  test("a secret where the tape has none", async () => {
    const sim = await started({ tape: await tapeOf([exchange(things, answer({}), { body: { note: "plain" } })]) });
    const { text } = await asked(sim, `${things}?q=${token("e")}`, { body: { note: token("e") } });
    expect(JSON.parse(text).nearest[0].differing).toContainEqual({
      path: "req.body.note",
      recorded: "plain",
      asked: "***",
    });
    expect(JSON.stringify([text, await sim.tapes.get()])).not.toContain(token("e"));
  });
});

describe("several keys", () => {
  const list = "GET /api/projects/1/dashboards/";
  const with_ = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

  test("a second key on a running replay gets the answers, and its own key back", async () => {
    const keyed = "POST /api/projects/1/keys/";
    const tape = await tapeOf([
      exchange(keyed, answer({ used: token("a") }), { body: { personal: `is ${token("a")}` } }),
    ]);
    const sim = await started({ tape });
    for (const letter of ["x", "y", "x", "z"]) {
      const { text } = await asked(sim, keyed, { body: { personal: `is ${token(letter)}` } });
      expect(JSON.parse(text)).toEqual({ used: token(letter) });
    }
  });

  test("keys that the tape distinguishes stay apart", async () => {
    const each = (key: string, name: string) =>
      exchange(`${list}?key=${key}`, answer({ name }), { headers: ["Authorization", `Bearer ${key}`] });
    const sim = await started({ tape: await tapeOf([each(token("a"), "one"), each(token("b"), "two")]) });
    const names: unknown[] = [];
    for (const letter of ["x", "y", "x", "y", "z"]) {
      const { text } = await asked(sim, `${list}?key=${token(letter)}`, with_(token(letter)));
      names.push(JSON.parse(text).name);
    }
    expect(names).toEqual(["one", "two", "one", "two", "one"]);
  });
});

describe("rules of one's own", () => {
  const redaction: RedactionRules = {
    rules: [
      { name: "order_token", pattern: /ord-[a-z]{6}/ },
      { name: "pin", field: "customerPin" },
      { name: "shop", path: "req.body.shop" },
    ],
    keep: ["build_token"],
    ignore: ["req.body.request_id"],
  };
  const body = (order: string, pin: string, shop: string, id: number) => ({
    note: `for ${order}`,
    customer_pin: pin,
    shop: { code: shop },
    build_token: "v17",
    request_id: id,
  });
  const recordedBody = body("ord-abcdef", "7788", "north", 1);
  const write = async (exchanges: RawExchange[]): Promise<string> => {
    const file = join(newFolder(), "own.tape.ndjson");
    const { ignore, ...rest } = readRules(redaction);
    const writer = new TapeWriter(file, {
      redactor: createRedactor({ rules: tapeRules(rest) }),
      header: { upstream, noise: ignore },
    });
    for (const it of exchanges) writer.append(it);
    await writer.close();
    return file;
  };

  test("are applied to the tape and to what is compared with it; the tape carries them", async () => {
    const file = await write([exchange(things, answer({ ok: 1 }), { body: recordedBody })]);
    const [header = "", line = ""] = readFileSync(file, "utf8").split("\n");
    expect(JSON.parse(line).req.body.json).toEqual({
      note: "for {{secret:order_token#1}}",
      customer_pin: "{{secret:pin#1}}",
      shop: { code: "{{secret:shop#1}}" },
      build_token: "v17",
      request_id: 1,
    });
    expect(JSON.parse(header)).toMatchObject({ noise: ["req.body.request_id"], rules: { keep: ["build_token"] } });
    const sim = await started({ tape: file });
    const other = await asked(sim, things, { body: body("ord-zyxwvu", "1122", "south", 2) });
    expect(JSON.parse(other.text)).toEqual({ ok: 1 });
    const build = { ...body("ord-zyxwvu", "1122", "south", 2), build_token: "v18" };
    const missed = await asked(sim, things, { body: build });
    expect(JSON.parse(missed.text).nearest[0].differing).toEqual([
      { path: "req.body.build_token", recorded: "v17", asked: "v18" },
    ]);
  });

  test("of a sim are recorded, and count on replay of tapes without them", async () => {
    const far = await started({ strict: false });
    const cwd = newFolder();
    const tape = join(cwd, "own.tape.ndjson");
    const recording = await startSim({ upstream: far.url, tape, redaction });
    await asked(recording, "POST /capture/", {
      body: { api_key: far.apiKey, event: "bought ord-abcdef", distinct_id: "u" },
    });
    await recording.close();
    const text = readFileSync(tape, "utf8");
    expect(text).toContain("bought {{secret:order_token#1}}");
    expect(text).not.toContain("ord-abcdef");

    const plain = await tapeOf([exchange(things, answer({ ok: 2 }), { body: { note: "a", request_id: 1 } })]);
    const sim = await started({ tape: plain, redaction });
    expect((await asked(sim, things, { body: { note: "a", request_id: 7 } })).status).toBe(200);
  });

  test("a tape is not continued by other rules", async () => {
    const file = await write([]);
    expect(() => new TapeWriter(file, { redactor: createRedactor() })).toThrow(/other rules of your own/);
  });

  test.each<[unknown, string]>([
    [7, "redaction must be an object with rules, keep or ignore, not 7"],
    [{ rule: [] }, "redaction.rule is not known; there are rules, keep, ignore"],
    [{ rules: {} }, "redaction.rules must be a list, not {}"],
    [{ rules: [{ name: "a", pattern: "(" }] }, "redaction.rules[0].pattern is no regular expression"],
    [{ rules: [{ name: "a", pattern: "a*" }] }, "redaction.rules[0].pattern must not match the empty string"],
    [{ rules: [{ name: "A b", pattern: "a" }] }, "redaction.rules[0].name must be a name such as order_token"],
    [{ rules: [{ name: "a" }] }, "redaction.rules[0] must have one of pattern, field, path"],
    [{ rules: [{ name: "a", field: "b", path: "req.body" }] }, "redaction.rules[0] must have one of"],
    [{ rules: [{ name: "a", path: "body.b" }] }, "redaction.rules[0].path must begin with req. or res."],
    [{ keep: "a" }, 'redaction.keep must be a list of strings, not "a"'],
    [{ ignore: ["a"] }, 'redaction.ignore[0] must begin with req. or res., not "a"'],
  ])("%j is refused", async (rules, message) => {
    const start = startSim({ redaction: rules as RedactionRules });
    await expect(start).rejects.toThrow(StartError);
    await expect(start).rejects.toThrow(message);
  });
});
