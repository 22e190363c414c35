import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readHeader } from "../../../../src/lab/tapes/format/header.ts";
import { sideFolder } from "../../../../src/lab/tapes/format/place.ts";
import { readTape, tapesIn } from "../../../../src/lab/tapes/format/read.ts";
import { readBody } from "../../../../src/lab/tapes/format/side-files.ts";
import { TapeError } from "../../../../src/lab/tapes/format/tape-error.ts";
import { newFolder } from "../../../support/folder.ts";
import { allOf, json, readAll } from "./fixture.ts";

const header = {
  tape: 1,
  id: "0190f1f2-aaaa-7bbb-8ccc-0123456789ab",
  created: "2026-01-02T03:04:05.006Z",
  creator: "a test",
  upstream: null,
  redaction: "none",
  noise: [],
};

const good = {
  i: 1,
  at: "2026-01-02T03:04:05.006Z",
  route: "flags",
  req: {
    method: "POST",
    url: "https://us.i.posthog.com/flags/?v=2",
    http: "1.1",
    headers: [["Host", "us.i.posthog.com"]],
    wire: { bytes: 2, encodings: [] },
    body: { json: {} },
  },
  res: { status: 200, reason: "OK", http: "1.1", headers: [], wire: { bytes: 0, encodings: [] }, ttfb: 1, total: 2 },
  complete: true,
  redacted: [],
};

/** A tape of these lines. */
function tape(lines: readonly unknown[], first: unknown = header, at: string = newFolder()): string {
  const file = join(at, "t.tape.ndjson");
  const text = [first, ...lines].map((it) => (typeof it === "string" ? it : JSON.stringify(it)));
  writeFileSync(file, `${text.join("\n")}\n`);
  return file;
}

const errorOf = async (run: Promise<unknown>): Promise<TapeError> => {
  try {
    await run;
  } catch (error) {
    if (error instanceof TapeError) return error;
    throw error;
  }
  throw new Error("no error");
};

const req = (over: object) => ({ ...good, req: { ...good.req, ...over } });
const res = (over: object) => ({ ...good, res: { ...good.res, ...over } });
const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;

describe("a line that is", () => {
  test.each<[string, unknown, string]>([
    ["half a line", '{"i":1,"at"', "it is not JSON"],
    ["not UTF-8's business", "\u0000\u0001", "it is not JSON"],
    ["null", "null", "it has no valid `line`"],
    ["a list", "[]", "it has no valid `line`"],
    ["another header", header, "it has no valid `i`"],
    ["without a number", { ...good, i: 0 }, "it has no valid `i`"],
    ["with half a number", { ...good, i: 1.5 }, "it has no valid `i`"],
    ["without a time", { ...good, at: "yesterday" }, "it has no valid `at`"],
    ["without an answer's absence", { ...good, res: undefined }, "it has no valid `res`"],
    ["with a request that is none", { ...good, req: [] }, "it has no valid `req`"],
    ["of an unknown end", { ...good, aborted: "nobody" }, "it has no valid `aborted`"],
    ["of a file's URL", req({ url: "file:///etc/passwd" }), "it has no valid `req.url`"],
    ["of a path for a URL", req({ url: "/flags" }), "it has no valid `req.url`"],
    ["of a script's URL", req({ url: "javascript:alert(1)" }), "it has no valid `req.url`"],
    ["of a method with a line break", req({ method: "GET / HTTP/1.1\r\nX: y" }), "it has no valid `req.method`"],
    ["with a header that splits", req({ headers: [["a", "b\r\nc: d"]] }), "it has no valid `req.headers`"],
    ["with a header's name that splits", req({ headers: [["a\nb", "c"]] }), "it has no valid `req.headers`"],
    ["with a header of three", req({ headers: [["a", "b", "c"]] }), "it has no valid `req.headers`"],
    ["with headers as an object", req({ headers: { a: "b" } }), "it has no valid `req.headers`"],
    ["with an answer's header that splits", res({ headers: [["a", "\u0000"]] }), "it has no valid `res.headers`"],
    ["with a reason that splits", res({ reason: "OK\r\nSet-Cookie: a=b" }), "it has no valid `res.reason`"],
    ["of status 0", res({ status: 0 }), "it has no valid `res.status`"],
    ["of status 1e9", res({ status: 1e9 }), "it has no valid `res.status`"],
    ["of a time before its start", res({ ttfb: -1 }), "it has no valid `res.ttfb`"],
    ["with two bodies", req({ body: { json: 1, text: "a" } }), "it has no valid `req.body`"],
    ["with a body of nothing", req({ body: {} }), "it has no valid `req.body`"],
    ["with a side file elsewhere", req({ body: { file: "../../etc/passwd", bytes: 1 } }), "it has no valid `req.body`"],
    ["with an absolute side file", req({ body: { file: "/etc/passwd", bytes: 1 } }), "it has no valid `req.body`"],
    [
      "with a body deeper than is read",
      JSON.stringify(req({ body: { json: "@" } })).replace('"@"', deep),
      "it has no valid `req.body`",
    ],
    ["with a wire of nothing", req({ wire: null }), "it has no valid `req.wire`"],
    ["with encodings that are numbers", res({ wire: { bytes: 1, encodings: [1] } }), "it has no valid `res.wire`"],
  ])("%s is passed over and reported", async (_, line, detail) => {
    const file = tape([good, line, { ...good, i: 3 }]);
    const { exchanges, problems } = await readAll(file);
    expect(exchanges.map(({ i }) => i)).toEqual([1, 3]);
    expect(problems).toEqual([{ file, line: 3, detail, hint: expect.any(String) }]);
  });

  test("longer than allowed is passed over, in bounded memory", async () => {
    const file = tape([good, `"${"x".repeat(900_000)}"`, { ...good, i: 3 }]);
    const { exchanges, problems } = await readAll(file, { maxLine: 300_000 });
    expect(exchanges.map(({ i }) => i)).toEqual([1, 3]);
    expect(problems.map(({ line, detail }) => [line, detail])).toEqual([[3, "it is longer than 300000 bytes"]]);
  });

  test("the last and unfinished is reported as such; one that only lacks its line break is read", async () => {
    const cut = tape([good, '{"i":2,"at":"2026']);
    writeFileSync(cut, readFileSync(cut, "utf8").trimEnd());
    expect((await readAll(cut)).problems.map(({ detail }) => detail)).toEqual([
      "it is unfinished: the recording was cut off",
    ]);
    const whole = tape([good, { ...good, i: 2 }]);
    writeFileSync(whole, readFileSync(whole, "utf8").trimEnd());
    expect(await readAll(whole)).toMatchObject({ exchanges: [{ i: 1 }, { i: 2 }], problems: [] });
  });

  test("empty, or ended as on Windows, is no trouble; neither is a byte order mark or a further key", async () => {
    const file = tape(
      ["", `${JSON.stringify({ ...good, mood: "good" })}\r`, "  "],
      `\ufeff${JSON.stringify({ ...header, x: 1 })}\r`,
    );
    expect(await readAll(file)).toMatchObject({ exchanges: [{ i: 1, mood: "good" }], problems: [] });
  });

  test("hostile by its keys stays what it says", async () => {
    const line = JSON.stringify(req({ body: { json: "@" } })).replace('"@"', '{"__proto__":{"admin":true}}');
    const [exchange] = await allOf(tape([line]));
    expect(JSON.stringify(exchange?.req.body)).toBe('{"json":{"__proto__":{"admin":true}}}');
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("admin");
  });
});

describe("a file that is", () => {
  test.each<[string, string, RegExp, RegExp]>([
    ["empty", "", /is not a tape: it is empty/, /tape import/],
    ["a HAR", '{"log":{"entries":[]}}', /its first line is no header/, /tape import/],
    ["a picture", "\u0089PNG\r\n", /its first line is not JSON/, /tape import/],
    ["without any line break", "x".repeat(3_000_000), /its first line is not JSON/, /tape import/],
    [
      "of a newer format",
      `${JSON.stringify({ ...header, tape: 2, id: 7 })}\n`,
      /is of format 2; .* reads up to 1/,
      /update phx-sim/,
    ],
    ["without an id", JSON.stringify({ ...header, id: "x" }), /no valid `id`/, /tape import/],
    ["of format 0", JSON.stringify({ ...header, tape: 0 }), /no valid `tape`/, /tape import/],
    ["of a time that is none", JSON.stringify({ ...header, created: "x" }), /no valid `created`/, /tape import/],
    ["with noise that is none", JSON.stringify({ ...header, noise: "x" }), /no valid `noise`/, /tape import/],
  ])("%s is refused clearly", async (_, content, message, hint) => {
    const file = join(newFolder(), "t.tape.ndjson");
    writeFileSync(file, content);
    // one after the other: what rejects while no one listens counts as an error of its own
    for (const read of [readHeader, allOf]) {
      const error = await errorOf(read(file));
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(error.file).toBe(file);
    }
  });

  test("missing, or a folder, is refused clearly", async () => {
    const at = newFolder();
    expect((await errorOf(allOf(join(at, "no.tape.ndjson")))).message).toMatch(/cannot be read: there is no such file/);
    expect((await errorOf(readHeader(at))).message).toMatch(/cannot be read: it is a folder/);
  });
});

test("a file that continues another tape is refused", async () => {
  const file = tape([good], { ...header, volume: 2 } as typeof header);
  expect((await errorOf(allOf(file))).message).toMatch(/continues another tape/);
});

test("the tapes of a folder", async () => {
  const at = newFolder();
  writeFileSync(join(at, "broken.tape.ndjson"), "x");
  writeFileSync(join(at, "other.txt"), "x");
  renameSync(tape([good, good, good], { ...header, upstream: "https://eu.i.posthog.com" }), join(at, "a.tape.ndjson"));
  expect(await tapesIn(at)).toEqual([
    expect.objectContaining({
      name: "a",
      exchanges: 3,
      header: expect.objectContaining({ upstream: "https://eu.i.posthog.com" }),
    }),
    expect.objectContaining({ name: "broken", problem: expect.stringContaining("is not a tape") }),
  ]);
  expect((await errorOf(tapesIn(join(at, "none")))).message).toMatch(/no such file/);
});

describe("a side file", () => {
  const content = json({ a: "x".repeat(10) });
  const name = createHash("sha256").update(content).digest("hex");

  const rows: [string, (at: string) => void, string][] = [
    ["that is missing", () => {}, "there is no such file"],
    ["that was changed", (at) => writeFileSync(join(at, name), "other"), "its content is not what was recorded"],
    ["that is a folder", (at) => mkdirSync(join(at, name)), "it is not a file"],
    ["that leads elsewhere", (at) => symlinkSync("/etc/hostname", join(at, name)), "it is not a file"],
  ];
  test.each(rows)("%s is reported, and the body is unreadable", async (_, make, why) => {
    const at = newFolder();
    mkdirSync(join(at, "t.tape.d"));
    make(join(at, "t.tape.d"));
    const file = tape([req({ body: { file: name, bytes: content.length, as: "json" } })], header, at);
    const { exchanges, problems } = await readAll(file, { bodies: "whole" });
    expect(exchanges[0]?.req.body).toEqual({ omitted: "unreadable", bytes: content.length });
    expect(problems).toEqual([{ file, line: 2, detail: `side file ${name}: ${why}`, hint: expect.any(String) }]);
  });

  test("is read from the tape's folder only, whatever its name says", async () => {
    const file = tape([]);
    const reported: string[] = [];
    const body = { file: "../t.tape.ndjson", bytes: 1 };
    expect(readBody(sideFolder(file), body, (it) => reported.push(it))).toEqual({ omitted: "unreadable", bytes: 1 });
    expect(reported).toEqual(["side file ../t.tape.ndjson: its name is not the hash of a content"]);
  });
});

test("who stops reading early closes the file", async () => {
  const file = tape(Array.from({ length: 2000 }, (_, i) => ({ ...good, i: i + 1 })));
  for (let round = 0; round < 20; round++) {
    for await (const exchange of readTape(file)) {
      expect(exchange.i).toBe(1);
      break;
    }
  }
  unlinkSync(file);
  expect((await errorOf(allOf(file))).message).toMatch(/no such file/);
});
