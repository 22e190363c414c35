import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Redactor } from "../../../../src/lab/tapes/format/header.ts";
import { readHeader } from "../../../../src/lab/tapes/format/header.ts";
import { TapeError } from "../../../../src/lab/tapes/format/tape-error.ts";
import { type TapeTrouble, TapeWriter, type TapeWriterOptions } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { newFolder } from "../../../support/folder.ts";
import { allOf, json, linesOf, plain, raw } from "./fixture.ts";

const newTape = (): string => join(newFolder(), "tapes", "t.tape.ndjson");

/** A writer and its reports. */
function open(file: string, options: Partial<TapeWriterOptions> = {}) {
  const troubles: TapeTrouble[] = [];
  const notices: string[] = [];
  const writer = new TapeWriter(file, {
    redactor: plain,
    onTrouble: (it) => troubles.push(it),
    onNotice: (it) => notices.push(it),
    ...options,
  });
  return { writer, troubles, notices };
}

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof TapeError ? `${error.message} → ${error.hint}` : String(error);
  }
  return "no error";
};

const request = (url: string, body: Buffer = json({ a: 1 })) => raw({ url: `https://us.i.posthog.com${url}`, body });

/** Every byte that a folder holds. */
const everythingIn = (path: string): string =>
  readdirSync(path, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => readFileSync(join(it.parentPath, it.name), "latin1"))
    .join("\n");

describe("a tape", () => {
  test("is a header and a line for each exchange", async () => {
    const file = newTape();
    const { writer, troubles, notices } = open(file, {
      header: {
        id: "0190f1f2-aaaa-7bbb-8ccc-0123456789ab",
        created: "2026-01-02T03:04:05.006Z",
        upstream: "https://us.i.posthog.com",
      },
    });
    writer.append(raw());
    writer.append(raw({ answer: null, aborted: "client", client: "t1" }));
    const summary = await writer.close();
    expect(linesOf(file).map((it) => JSON.parse(it))).toEqual([
      {
        tape: 1,
        id: "0190f1f2-aaaa-7bbb-8ccc-0123456789ab",
        created: "2026-01-02T03:04:05.006Z",
        creator: "phx-sim/0.1.0",
        upstream: "https://us.i.posthog.com",
        redaction: "none",
        noise: [],
      },
      {
        i: 1,
        at: "2026-01-02T03:04:05.006Z",
        route: "flags",
        req: {
          method: "POST",
          url: "https://us.i.posthog.com/flags/?v=2",
          http: "1.1",
          headers: [
            ["Host", "us.i.posthog.com"],
            ["content-type", "application/json"],
          ],
          body: { json: { distinct_id: "u1" } },
          wire: { bytes: 20, encodings: [] },
        },
        res: {
          status: 200,
          reason: "OK",
          http: "1.1",
          headers: [
            ["Content-Type", "application/json"],
            ["Set-Cookie", "a=1"],
            ["Set-Cookie", "b=2"],
          ],
          body: { json: { flags: {} } },
          wire: { bytes: 12, encodings: [] },
          ttfb: 1.5,
          total: 2,
        },
        complete: true,
        redacted: [],
      },
      expect.objectContaining({ i: 2, res: null, complete: false, aborted: "client", client: "t1" }),
    ]);
    expect(summary).toEqual({
      file,
      exchanges: 2,
      incomplete: 1,
      redactions: 0,
      excluded: 0,
      lost: 0,
      bytes: linesOf(file).slice(1).join("\n").length + 1,
    });
    expect([troubles, notices]).toEqual([[], []]);
    expect(existsSync(`${file}.lock`)).toBe(false);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("has each exchange as soon as it is appended", () => {
    const file = newTape();
    const { writer } = open(file);
    expect(linesOf(file)).toHaveLength(1);
    writer.append(raw());
    expect(linesOf(file)).toHaveLength(2);
  });

  test("numbers exchanges in the order they arrived, where the transport reports it", async () => {
    const file = newTape();
    const { writer } = open(file);
    const [slow, fast] = [writer.arrive(), writer.arrive()];
    writer.append(request("/fast"), fast);
    writer.append(request("/slow"), slow);
    writer.append(request("/next"));
    await writer.close();
    expect((await allOf(file)).map(({ i, route }) => [i, route])).toEqual([
      [2, "POST /fast"],
      [1, "POST /slow"],
      [3, "POST /next"],
    ]);
  });

  test("keeps line separators of other alphabets in one line", async () => {
    const file = newTape();
    const { writer } = open(file);
    writer.append(request("/x", json({ a: "\u2028\u2029\n" })));
    await writer.close();
    expect(readFileSync(file, "utf8").split(/\r\n|[\n\u2028\u2029]/)).toHaveLength(3);
    expect((await allOf(file))[0]?.req.body).toEqual({ json: { a: "\u2028\u2029\n" } });
  });

  test("writes what is wanted only", async () => {
    const file = newTape();
    const { writer } = open(file, { include: ["/api/**", "/s/"], exclude: ["/api/secret/**"] });
    for (const url of ["/api/a", "/api/secret", "/api/secret/x?y=1", "/e/", "/s/?v=1"]) writer.append(request(url));
    expect(await writer.close()).toMatchObject({ exchanges: 2, excluded: 3 });
    expect((await allOf(file)).map(({ req }) => req.body)).toEqual([
      { json: { a: 1 } },
      { omitted: "excluded", bytes: 7 },
    ]);
  });

  test("leaves out bodies that the transport did not keep, and those beyond the limit", async () => {
    const file = newTape();
    const { writer } = open(file, { bodyLimit: 100 });
    writer.append(raw({ body: { omitted: "not_kept", bytes: 9 } }));
    writer.append(raw({ body: gzipSync(Buffer.alloc(101, "a")), headers: ["content-encoding", "gzip"] }));
    await writer.close();
    expect((await allOf(file)).map(({ req }) => req.body)).toEqual([
      { omitted: "not_kept", bytes: 9 },
      expect.objectContaining({ omitted: "too_large" }),
    ]);
  });
});

describe("large bodies", () => {
  const bodies: [string, Buffer, object][] = [
    ["JSON", json({ list: Array.from({ length: 9000 }, (_, i) => `item ${i}`) }), { as: "json" }],
    ["text", Buffer.from("ü".repeat(40_000)), { as: "text" }],
    ["bytes", Buffer.alloc(70_000, 0xff), {}],
  ];
  test.each(bodies)("of %s lie beside the tape, named by their hash", async (_, body, as) => {
    const file = newTape();
    const { writer } = open(file);
    writer.append(request("/x", body));
    writer.append(request("/x", body));
    await writer.close();
    const [first, second] = await allOf(file);
    const name = createHash("sha256").update(body).digest("hex");
    expect(first?.req.body).toEqual({ file: name, bytes: body.length, ...as });
    expect(second?.req.body).toEqual(first?.req.body);
    expect(readdirSync(file.replace(".ndjson", ".d"))).toEqual([name]);
    const [whole] = await allOf(file, { bodies: "whole" });
    expect(Object.keys(whole?.req.body ?? {})).toEqual([
      Object.keys(as).length === 0 ? "b64" : String(Object.values(as)[0]),
    ]);
  });

  test("are redacted before they are written", async () => {
    const file = newTape();
    const redactor: Redactor = {
      profile: "test",
      redact: (it) => ({
        ...it,
        req: { ...it.req, body: { text: JSON.stringify(it.req.body).replaceAll("phx_hidden", "{{secret:key#1}}") } },
        redacted: ["req.body.key"],
      }),
    };
    const { writer } = open(file, { redactor });
    writer.append(request("/x", json({ key: "phx_hidden", fill: "a".repeat(70_000) })));
    writer.append(request("/x", json({ key: "phx_hidden" })));
    expect(await writer.close()).toMatchObject({ exchanges: 2, redactions: 2 });
    expect(everythingIn(join(file, ".."))).toContain("{{secret:key#1}}");
    expect(everythingIn(join(file, ".."))).not.toContain("phx_hidden");
    expect(await readHeader(file)).toMatchObject({ redaction: "test" });
  });
});

describe("a tape that already exists", () => {
  async function recorded(times: number): Promise<string> {
    const file = newTape();
    const { writer } = open(file, { header: { upstream: "https://a.test" } });
    for (let i = 0; i < times; i++) writer.append(raw());
    await writer.close();
    return file;
  }

  test("is continued: same id, further numbers", async () => {
    const file = await recorded(2);
    const before = await readHeader(file);
    const { writer, notices } = open(file, { header: { upstream: "https://b.test" } });
    writer.append(raw());
    await writer.close();
    expect((await allOf(file)).map(({ i }) => i)).toEqual([1, 2, 3]);
    expect(await readHeader(file)).toEqual(before);
    expect(notices).toEqual([
      `${file} is continued after exchange 2`,
      `${file} was begun with https://a.test; it goes on with https://b.test`,
    ]);
  });

  test.each([
    ["half a line", '{"i":3,"at":"2026'],
    ["half a character", Buffer.from([0xf0, 0x9f])],
    ["a line longer than a chunk", "x".repeat(1_500_000)],
  ])("loses %s that a crash left, and says so", async (_, tail) => {
    const file = await recorded(2);
    writeFileSync(file, tail, { flag: "a" });
    const { writer, notices } = open(file);
    expect(notices.join("\n")).toContain(`cut off ${tail.length} bytes of an unfinished last line`);
    writer.append(raw());
    await writer.close();
    expect((await allOf(file)).map(({ i }) => i)).toEqual([1, 2, 3]);
  });

  test.each([
    ["empty", ""],
    ["cut off in its header", '{"tape":1,"id":"01'],
    ["cut off in its first bytes", '{"ta'],
  ])("and is %s begins anew", async (_, content) => {
    const file = join(newFolder(), "t.tape.ndjson");
    writeFileSync(file, content);
    const { writer } = open(file);
    writer.append(raw());
    await writer.close();
    expect(await allOf(file)).toHaveLength(1);
  });

  test.each([
    ["is no tape", "hello", /is not a tape: its first line is not JSON/],
    ["is no tape, with many lines", "a\nb\n", /is not a tape: its first line is not JSON/],
    ["is a HAR", '{"log":{}}', /is not a tape: its first line is no header → .*tape import/],
    ["is of a newer format", '{"tape":2}\n', /is of format 2; this phx-sim .* reads up to 1 → update phx-sim/],
    ["is binary without lines", "\u0000".repeat(2_000_000), /is not a tape/],
  ])("and %s is refused and not touched", (_, content, message) => {
    const file = join(newFolder(), "t.tape.ndjson");
    writeFileSync(file, content);
    expect(messageOf(() => open(file))).toMatch(message);
    expect(readFileSync(file, "utf8")).toBe(content);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test("never gives a placeholder to a second secret", async () => {
    const file = newTape();
    const asks = (secret: string, fill: string) =>
      raw({ headers: ["Authorization", `Bearer ${secret}`], body: json({ personal_api_key: `${secret}b`, fill }) });
    for (const secret of ["phx_first0123456789abcdefgh", "phx_other0123456789abcdefgh"]) {
      const { writer } = open(file, { redactor: createRedactor() });
      writer.append(asks(secret, "x".repeat(70_000)));
      await writer.close();
    }
    expect(everythingIn(join(file, ".."))).not.toMatch(/phx_(first|other)/);
    const placeholders = (await allOf(file, { bodies: "whole" })).map((it) =>
      [...JSON.stringify(it).matchAll(/\{\{secret:[^}]+\}\}/g)].map(([text]) => text),
    );
    expect(placeholders[0]).toHaveLength(4);
    expect(placeholders[1]).toHaveLength(4);
    expect(new Set(placeholders.flat()).size).toBe(8);
  });

  test("and was redacted by other rules is refused", async () => {
    const file = await recorded(1);
    const redactor: Redactor = { ...plain, profile: "pii" };
    expect(messageOf(() => open(file, { redactor }))).toMatch(
      /redacted by the rules none, not by pii → record with --raw, or to another tape/,
    );
  });
});

describe("one writer for a tape", () => {
  test("a second one in this process is refused until the first has closed", async () => {
    const file = newTape();
    const { writer } = open(file);
    expect(messageOf(() => open(file))).toMatch(`is being recorded by pid ${process.pid}, this process → stop`);
    await writer.close();
    await open(file).writer.close();
    expect(readdirSync(join(file, ".."))).toEqual(["t.tape.ndjson"]);
  });

  test("one of a process that runs is refused", () => {
    const file = join(newFolder(), "t.tape.ndjson");
    const lock = JSON.stringify({ pid: process.ppid });
    writeFileSync(`${file}.lock`, lock);
    expect(messageOf(() => open(file))).toContain(`is being recorded by pid ${process.ppid} →`);
    expect(readFileSync(`${file}.lock`, "utf8")).toBe(lock);
  });

  test.each([
    ["whose process is gone", '{"pid":4194399}'],
    ["of a crash in a container, where pids repeat", JSON.stringify({ pid: process.pid, started: "1" })],
    ["that is empty", ""],
    ["without a pid", '{"pid":-1}'],
    ["of every process", '{"pid":0}'],
  ])("a lock %s is taken over", async (_, lock) => {
    const file = join(newFolder(), "t.tape.ndjson");
    writeFileSync(`${file}.lock`, lock);
    await open(file).writer.close();
    expect(readdirSync(join(file, ".."))).toEqual(["t.tape.ndjson"]);
  });
});

describe("trouble", () => {
  test("a redactor that fails costs that exchange, and nothing of it is written", async () => {
    const file = newTape();
    const redactor: Redactor = {
      profile: "test",
      redact(it) {
        if (it.i === 2) throw new Error("no idea");
        return it;
      },
    };
    const { writer, troubles } = open(file, { redactor });
    for (const url of ["/a", "/hidden", "/c"]) writer.append(request(url));
    const summary = await writer.close();
    expect(summary).toMatchObject({ exchanges: 2, lost: 1, trouble: { isOver: false } });
    expect(troubles.map(({ detail }) => detail)).toEqual([`an exchange could not be recorded on ${file}: no idea`]);
    expect(readFileSync(file, "utf8")).not.toContain("hidden");
  });

  test.each([
    ["a header that would split a message", raw({ headers: ["a", "b\r\nc: d"] }), /req\.headers/],
    ["an address that is none", raw({ url: "nowhere" }), /req\.url/],
    ["a time that is none", raw({ at: Number.NaN }), /Invalid time/],
  ])("%s costs that exchange", async (_, bad, message) => {
    const file = newTape();
    const { writer, troubles } = open(file);
    writer.append(bad);
    writer.append(raw());
    expect(await writer.close()).toMatchObject({ exchanges: 1, lost: 1 });
    expect(troubles[0]?.detail).toMatch(message);
  });

  test("a tape that is deleted ends the recording, and says so once", async () => {
    const file = newTape();
    const { writer, troubles } = open(file);
    rmSync(join(file, ".."), { recursive: true });
    writer.append(raw());
    await writer.flush();
    writer.append(raw());
    expect(writer.trouble).toMatchObject({ isOver: true, detail: `recording has stopped: ${file} was deleted` });
    expect(await writer.close()).toMatchObject({ lost: 1, trouble: { isOver: true } });
    expect(troubles).toHaveLength(1);
  });

  test("a side file that cannot be written ends the recording; the tape stays whole", async () => {
    const file = newTape();
    const { writer, troubles } = open(file);
    writer.append(raw());
    writeFileSync(file.replace(".ndjson", ".d"), "a file in the folder's place");
    writer.append(request("/x", json("a".repeat(70_000))));
    writer.append(raw());
    expect(await writer.close()).toMatchObject({ exchanges: 1, lost: 2 });
    expect(troubles).toEqual([
      { detail: expect.stringContaining("recording has stopped"), hint: expect.any(String), isOver: true },
    ]);
    expect(await allOf(file)).toHaveLength(1);
  });

  test("what comes after the end is lost, and does not throw", async () => {
    const { writer } = open(newTape());
    await writer.close();
    writer.append(raw());
    await writer.flush();
    expect(await writer.close()).toMatchObject({ exchanges: 0, lost: 1 });
  });

  test.each([
    ["a folder", (at: string) => mkdirSync(join(at, "t.tape.ndjson")), "t.tape.ndjson", /it is a folder/],
    ["below a file", (at: string) => writeFileSync(join(at, "f"), ""), "f/t.tape.ndjson", /cannot be recorded on/],
  ])("a place that is %s is refused when it is opened", (_, make, name, message) => {
    const at = newFolder();
    make(at);
    expect(messageOf(() => open(join(at, name)))).toMatch(message);
    expect(existsSync(`${join(at, name)}.lock`)).toBe(false);
  });

  test.skipIf(!existsSync("/dev/full"))("a full disk is reported when the tape is opened", () => {
    const file = join(newFolder(), "t.tape.ndjson");
    symlinkSync("/dev/full", file);
    expect(messageOf(() => open(file))).toMatch(/the disk is full → free some space/);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });
});
