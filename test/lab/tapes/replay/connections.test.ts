import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { createChunkTimes, mostChunks } from "../../../../src/lab/tapes/upstream/passing-body.ts";
import { newFolder } from "../../../support/folder.ts";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

/** Time passes only when it is moved on. */
function movedTime() {
  const now = performance.now.bind(performance);
  const at = { ms: 0 };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + at.ms);
  onTestFinished(() => spy.mockRestore());
  return at;
}

async function serving(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Seen {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  broken: string | undefined;
}

/** What a client sees of an answer, to its end or to the connection's. */
function seen(url: string, method = "GET") {
  const parts: string[] = [];
  let came = (_: string) => {};
  const first = new Promise<string>((resolve) => {
    came = resolve;
  });
  const req = request(url, { method, agent: false }).end();
  const head = once(req, "response").then(([res]: IncomingMessage[]) => res as IncomingMessage);
  const ended = head.then(
    async (res): Promise<Seen> => {
      try {
        for await (const chunk of res) {
          parts.push(String(chunk));
          came(String(chunk));
        }
        return { status: res.statusCode, headers: res.headers, body: parts.join(""), broken: undefined };
      } catch (error) {
        const broken = (error as NodeJS.ErrnoException).code;
        return { status: res.statusCode, headers: res.headers, body: parts.join(""), broken };
      }
    },
    (error: NodeJS.ErrnoException): Seen => ({ status: 0, headers: {}, body: "", broken: error.code }),
  );
  return { req, head, first, ended };
}

const exchangesOn = (file: string): Exchange[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

describe("streams", () => {
  test("a recording has the times of a stream's parts, and none of what comes at once", async () => {
    const time = movedTime();
    const open: ServerResponse[] = [];
    const upstream = await serving((req, res) => {
      if (req.url !== "/api/events/") return void res.end("{}");
      res.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      open.push(res);
    });
    const tape = join(newFolder(), "stream.tape.ndjson");
    const sim = await started({ upstream, tape });
    const response = await fetch(`${sim.url}/api/events/`);
    const reader = response.body?.getReader();
    await reader?.read();
    time.ms += 5_000;
    open[0]?.write("data: two\n\n");
    await reader?.read();
    time.ms += 2_000;
    open[0]?.end("data: 3\n\n");
    await reader?.read();
    await reader?.read();
    await fetch(`${sim.url}/api/whole/`);
    await sim.close();
    const [stream, whole] = exchangesOn(tape);
    const { chunks = [], ttfb = 0 } = stream?.res ?? {};
    expect(chunks.map(([, bytes]) => bytes)).toEqual([9, 20, 29]);
    const times = chunks.map(([ms]) => Math.floor((ms - ttfb + 100) / 1_000));
    expect(times).toEqual([0, 5, 7]);
    expect(whole?.res).not.toHaveProperty("chunks");
  });

  test("the number of times is bounded, and the last one is the end", () => {
    const time = movedTime();
    const times = createChunkTimes(performance.now());
    for (let i = 0; i < 10_000; i++) {
      time.ms += 20;
      times.add({ length: 3 });
    }
    const list = times.list() ?? [];
    expect(list.length).toBeLessThan(mostChunks);
    expect(list.length).toBeGreaterThanOrEqual(mostChunks / 2);
    expect(list.at(-1)?.[1]).toBeGreaterThan(30_000 - 3 * 128);
    expect([...list].sort((a, b) => a[0] - b[0])).toEqual(list);
  });

  const events = "data: 1\n\ndata: two\n\ndata: 3\n\n";
  const slow = (over: Parameters<typeof answer>[1] = {}) =>
    exchange(
      "GET /api/events/",
      answer(null, {
        headers: ["Content-Type", "text/event-stream"],
        body: Buffer.from(events),
        ttfb: 0,
        total: 59_000,
        chunks: [
          [0, 9],
          [58_000, 20],
          [59_000, 29],
        ],
        ...over,
      }),
    );

  test.each([
    ["as recorded", {}],
    [
      "between two events, where the sizes are others",
      {
        headers: ["Content-Type", "text/event-stream", "Content-Encoding", "gzip"],
        body: gzipSync(events),
        chunks: [
          [0, 10],
          [59_000, gzipSync(events).length],
        ] as const,
      },
    ],
  ])("replay gives them part by part: %s", async (_, over) => {
    const sim = await started({ tape: await tapeOf([slow(over)]), timing: "recorded" });
    const client = seen(`${sim.url}/api/events/`);
    const response = await client.head;
    expect(response.headers).toMatchObject({ "transfer-encoding": "chunked", "x-phx-source": "tape:checkout#1" });
    expect(await client.first).toMatch(/^(?:data: \w+\n\n){1,2}$/);
    client.req.destroy();
    await client.ended;
  });

  test("in process as well", async () => {
    const sim = await started({ tape: await tapeOf([slow()]), timing: "recorded" });
    const gone = new AbortController();
    const response = await sim.handle(new Request(`${sim.url}/api/events/`, { signal: gone.signal }));
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: 1\n\n");
    gone.abort();
  });

  test.each([
    ["none", "29"],
    ["max:20", undefined],
    ["scale:0.0001", undefined],
  ])("timing %s gives all of it", async (timing, length) => {
    const sim = await started({ tape: await tapeOf([slow()]), timing });
    const { body, headers } = await seen(`${sim.url}/api/events/`).ended;
    expect([body, headers["content-length"]]).toEqual([events, length]);
    expect((await sim.requests.list())[0]).toMatchObject({ status: 200, source: "tape:checkout#1" });
  });

  test("a tape without the times waits for the recorded end", async () => {
    const over = { chunks: undefined, headers: ["Content-Type", "application/json", "Content-Length", "7"] };
    const whole = { ...slow().answer, ...over, body: Buffer.from('{"a":1}') };
    const late = exchange("GET /api/late/", answer(null, { ...whole, chunks: [] }));
    const sim = await started({ tape: await tapeOf([late]), timing: "recorded" });
    const client = seen(`${sim.url}/api/late/`);
    const response = await client.head;
    expect(response.headers["content-length"]).toBe("7");
    expect(response.read()).toBeNull();
    client.req.destroy();
    expect(await client.ended).toMatchObject({ body: "", broken: "ECONNRESET" });
  });
});

describe("connections that the upstream ended", () => {
  const upstreamOf = () =>
    serving((req, res) => {
      if (req.url === "/api/reset/") return void req.socket.resetAndDestroy();
      if (req.url === "/api/fin/") return void req.socket.end();
      if (req.url === "/api/again/" && again++ === 0) return void req.socket.resetAndDestroy();
      if (req.url === "/api/cut/")
        res.writeHead(200, { "content-length": 1000 }).write("half", () => req.socket.destroySoon());
      else if (req.url === "/api/chunks/") res.write("half", () => req.socket.destroySoon());
      else if (req.url === "/api/zip/")
        res
          .writeHead(200, { "content-encoding": "gzip", "content-length": 1000 })
          .write(gzipSync("x".repeat(5_000)).subarray(0, 12), () => req.socket.destroySoon());
      else res.end("{}");
    });
  let again = 0;

  test("are ended by a replay in the same way", async () => {
    again = 0;
    const tape = join(newFolder(), "ends.tape.ndjson");
    const recording = await started({ upstream: await upstreamOf(), tape });
    const paths = ["reset", "fin", "cut", "chunks", "zip", "again", "again"];
    const endsAt = async (url: string) => {
      const ends = [];
      for (const path of paths) {
        const { status, headers, body, broken } = await seen(`${url}/api/${path}/`).ended;
        ends.push([path, status, headers["content-length"] ?? null, body, broken]);
      }
      return ends;
    };
    const recorded = await endsAt(recording.url);
    expect((await recording.requests.list()).map(({ status, rejected }) => [status, rejected?.reason])).toContainEqual([
      0,
      "upstream_unreachable",
    ]);
    await recording.close();
    const sim = await started({ tape });
    const ends = await endsAt(sim.url);
    // what the recording's client got; its own JSON is written anew
    const broken = (it: typeof ends) => it.map(([path, status, , , code]) => [path, status, code]);
    expect(broken(ends)).toEqual(broken(recorded));
    expect(ends).toEqual([
      ["reset", 0, null, "", "ECONNRESET"],
      ["fin", 0, null, "", "ECONNRESET"],
      ["cut", 200, "1000", "half", "ECONNRESET"],
      ["chunks", 200, null, "half", "ECONNRESET"],
      ["zip", 200, "1000", "", "ECONNRESET"],
      ["again", 0, null, "", "ECONNRESET"],
      ["again", 200, "2", "{}", undefined],
    ]);
    expect((await sim.tapes.get())?.ledger).toMatchObject({ miss_count: 0, unused_count: 0, left_out: [] });
    expect((await sim.requests.list()).map(({ status, source }) => [status, source])).toContainEqual([
      0,
      "tape:ends#1",
    ]);
    await expect(sim.handle(new Request(`${sim.url}/api/fin/`))).rejects.toThrow("fetch failed");
    const cut = await sim.handle(new Request(`${sim.url}/api/cut/`));
    await expect(cut.text()).rejects.toThrow("terminated");
  });

  test("what the client ended is left out", async () => {
    const tape = await tapeOf([
      exchange("GET /api/a/", null, { aborted: "client" }),
      exchange("GET /api/b/", answer({}), { aborted: "client" }),
      exchange("GET /api/c/", null),
    ]);
    const sim = await started({ tape });
    expect((await sim.tapes.get())?.ledger.left_out.map(({ why }) => why)).toEqual([
      "no response was recorded",
      "it was cut off",
      "no response was recorded",
    ]);
    expect(await asked(sim, "GET /api/a/")).toMatchObject({ status: 599 });
  });
});

describe("HEAD", () => {
  const headAnswer = (...headers: string[]) =>
    answer(null, { headers: ["Content-Type", "text/javascript", ...headers], body: Buffer.alloc(0) });

  test.each([
    ["the recorded length", ["Content-Length", "1234"], { "content-length": "1234" }],
    [
      "of the compressed body",
      ["Content-Length", "99", "Content-Encoding", "br"],
      { "content-length": "99", "content-encoding": "br" },
    ],
    ["none where none was recorded", ["Transfer-Encoding", "chunked"], {}],
  ])("has %s", async (_, headers, expected) => {
    const sim = await started({ tape: await tapeOf([exchange("HEAD /static/x.js", headAnswer(...headers))]) });
    const { status, headers: given } = await seen(`${sim.url}/static/x.js`, "HEAD").ended;
    expect({ status, given }).toMatchObject({ status: 200, given: expected });
    expect(Object.keys(given).filter((name) => /^content-(?:length|encoding)$/.test(name))).toEqual(
      Object.keys(expected),
    );
    const here = await sim.handle(new Request(`${sim.url}/static/x.js`, { method: "HEAD" }));
    expect(here.headers.get("content-length")).toBe(given["content-length"] ?? null);
  });

  test("of the upstream, for what is not on the tape", async () => {
    const upstream = await serving((_, res) => void res.writeHead(200, { "content-length": 77 }).end());
    const tape = await tapeOf([exchange("GET /api/a/", answer({}))]);
    const sim = await started({ tape, upstream, onMiss: "upstream" });
    const { headers } = await seen(`${sim.url}/static/x.js`, "HEAD").ended;
    expect(headers["content-length"]).toBe("77");
  });
});
