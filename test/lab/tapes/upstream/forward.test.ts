import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import { type RawUpstream, rawClient, rawUpstream } from "./raw-upstream.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

async function through(
  answer: Parameters<typeof rawUpstream>[0],
  options: SimOptions = {},
): Promise<{ sim: Sim; upstream: RawUpstream }> {
  const upstream = await rawUpstream(answer);
  open.push(upstream);
  const sim = await startSim({ upstream: upstream.url, ...options });
  open.push(sim);
  return { sim, upstream };
}

const lines = (...all: string[]) => Buffer.from(`${all.join("\r\n")}\r\n\r\n`, "latin1");
const get = (path = "/array/x/config", ...more: string[]) =>
  lines(`GET ${path} HTTP/1.1`, "Host: app.test", ...more, "Connection: close");

const gzipped = gzipSync('{"flags":{}}');
const source = "x-phx-source: upstream";

/** What the upstream says, and what the client must get, byte for byte. */
const answers: readonly (readonly [string, Buffer, Buffer])[] = [
  [
    "order, case and duplicates of headers, and two cookies",
    Buffer.concat([
      lines(
        "HTTP/1.1 200 Quite Fine",
        "X-bEta: 1",
        "Set-Cookie: a=1; Path=/",
        "date: Thu, 01 Jan 2015 00:00:00 GMT",
        "set-cookie: b=2",
        "X-bEta: 2",
        "Content-Length: 2",
        "Vary: a",
        "vary: b",
      ),
      Buffer.from("ok"),
    ]),
    Buffer.concat([
      lines(
        "HTTP/1.1 200 Quite Fine",
        "X-bEta: 1",
        "Set-Cookie: a=1; Path=/",
        "date: Thu, 01 Jan 2015 00:00:00 GMT",
        "set-cookie: b=2",
        "X-bEta: 2",
        "Content-Length: 2",
        "Vary: a",
        "vary: b",
        source,
        "Connection: close",
      ),
      Buffer.from("ok"),
    ]),
  ],
  [
    "a gzipped body, undecoded, and an empty reason",
    Buffer.concat([lines("HTTP/1.1 200 ", "content-encoding: gzip", `content-length: ${gzipped.length}`), gzipped]),
    Buffer.concat([
      lines(
        "HTTP/1.1 200 ",
        "content-encoding: gzip",
        `content-length: ${gzipped.length}`,
        source,
        "Connection: close",
      ),
      gzipped,
    ]),
  ],
  [
    "bytes beyond ASCII in a header, hop-by-hop ones left out, Connection rewritten in its place",
    lines(
      "HTTP/1.1 204 No Content",
      "X-Name: caf\xe9",
      "Connection: keep-alive, x-hop",
      "Keep-Alive: timeout=5",
      "X-Hop: 1",
      "Upgrade: h2c",
    ),
    lines("HTTP/1.1 204 No Content", "X-Name: caf\xe9", "Connection: close", source),
  ],
  [
    "a redirect is the client's to follow",
    lines("HTTP/1.1 302 Found", "Location: http://169.254.169.254/latest", "Content-Length: 0"),
    lines(
      "HTTP/1.1 302 Found",
      "Location: http://169.254.169.254/latest",
      "Content-Length: 0",
      source,
      "Connection: close",
    ),
  ],
  [
    "an error of the service",
    Buffer.concat([lines("HTTP/1.1 503 Nope", "content-length: 4"), Buffer.from("busy")]),
    Buffer.concat([lines("HTTP/1.1 503 Nope", "content-length: 4", source, "Connection: close"), Buffer.from("busy")]),
  ],
  [
    "chunks with trailers",
    Buffer.concat([
      lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-Sum"),
      Buffer.from("3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"),
    ]),
    Buffer.concat([
      lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-Sum", source, "Connection: close"),
      Buffer.from("3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"),
    ]),
  ],
];

describe("what comes back", () => {
  test.each(answers)("%s", async (_, said, expected) => {
    const { sim } = await through((socket) => void socket.write(said));
    const got = await rawClient(sim.url, get()).all;
    expect(got.toString("latin1")).toBe(expected.toString("latin1"));
  });

  test("on a connection that stays open nothing is added but the source", async () => {
    const { sim } = await through((socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"));
    const client = rawClient(sim.url, lines("GET /decide HTTP/1.1", "Host: x"));
    expect(await client.until(/x$/)).toBe(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${source}\r\n\r\nx`);
    client.socket.destroy();
  });

  test("an answer that ends with its connection", async () => {
    const { sim } = await through((socket) => void socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole"));
    const got = (await rawClient(sim.url, get()).all).toString();
    expect(got).toMatch(/\r\n\r\n5\r\nwhole\r\n0\r\n\r\n$/);
  });

  test("a client of HTTP/1.0 gets no chunks", async () => {
    const said = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const { sim } = await through((socket) => void socket.write(said));
    const got = (await rawClient(sim.url, lines("GET / HTTP/1.0", "Host: x")).all).toString();
    expect(got).not.toMatch(/transfer-encoding/i);
    expect(got).toMatch(/\r\n\r\nabc$/);
  });

  test("HEAD has the length and no body", async () => {
    const { sim } = await through((socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"));
    const got = await rawClient(sim.url, lines("HEAD / HTTP/1.1", "Host: x", "Connection: close")).all;
    expect(got.toString()).toBe(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n${source}\r\nConnection: close\r\n\r\n`);
  });

  test("server-sent events as they come", async () => {
    let say = (_: string) => {};
    const { sim } = await through((socket) => {
      say = (text) => void socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    });
    const client = rawClient(sim.url, get("/events"));
    await client.until(/\r\n\r\n/);
    say("data: 1\n\n");
    expect(await client.until(/data: 1\n\n/)).toContain("data: 1");
    say("data: 2\n\n");
    expect(await client.until(/data: 2\n\n/)).toContain("data: 2");
    client.socket.destroy();
  });

  test("early hints", async () => {
    const { sim } = await through((socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a.js>; rel=preload; as=script\r\n\r\n");
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    const got = (await rawClient(sim.url, get()).all).toString();
    expect(got).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.js>; rel=preload; as=script\r\n\r\nHTTP\/1\.1 200 OK/,
    );
  });
});

describe("what goes out", () => {
  const fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

  test("order, case and duplicates stay; Host is the upstream's; hop-by-hop headers stay here", async () => {
    const { sim, upstream } = await through((socket) => void socket.write(fine));
    const sent = lines(
      "POST //e/?ip=1&_=%7B HTTP/1.1",
      "X-oNe: caf\xe9",
      "hOST: app.test",
      "X-two: a",
      "X-oNe: 2",
      "Connection: close, X-Mine",
      "X-Mine: 1",
      "TE: trailers",
      "Content-Length: 3",
    );
    await rawClient(sim.url, Buffer.concat([sent, Buffer.from([0, 255, 1])])).all;
    const expected = lines(
      "POST //e/?ip=1&_=%7B HTTP/1.1",
      "X-oNe: caf\xe9",
      `hOST: 127.0.0.1:${upstream.port}`,
      "X-two: a",
      "X-oNe: 2",
      "Connection: keep-alive",
      "Content-Length: 3",
    );
    expect(upstream.received()[0]?.toString("latin1")).toBe(`${expected.toString("latin1")}\0\xff\x01`);
  });

  test("chunks and trailers", async () => {
    const { sim, upstream } = await through((socket) => void socket.write(fine));
    const head = lines("POST /e HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Trailer: X-T");
    const client = rawClient(sim.url, Buffer.concat([head, Buffer.from("3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")]));
    expect(await upstream.until("X-T: 1\r\n\r\n")).toMatch(/\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n$/);
    client.socket.destroy();
  });

  test("the first half of a body goes on before the second comes", async () => {
    const { sim, upstream } = await through((socket) => void socket.write(fine));
    const head = lines("POST /e HTTP/1.1", "Host: x", "Content-Length: 6");
    const client = rawClient(sim.url, Buffer.concat([head, Buffer.from("abc")]));
    expect(await upstream.until("\r\n\r\nabc")).toMatch(/\r\n\r\nabc$/);
    client.socket.write("def");
    expect(await upstream.until("abcdef")).toMatch(/\r\n\r\nabcdef$/);
    client.socket.destroy();
  });

  test("a path of the upstream goes before the request's", async () => {
    const upstream = await rawUpstream((socket) => void socket.write(fine));
    open.push(upstream);
    const sim = await startSim({ upstream: `${upstream.url}/posthog/` });
    open.push(sim);
    await rawClient(sim.url, get("/flags/?v=2")).all;
    expect(upstream.received()[0]?.toString()).toMatch(/^GET \/posthog\/flags\/\?v=2 HTTP/);
  });

  test("the control API, in any spelling, never leaves", async () => {
    const { sim, upstream } = await through((socket) => void socket.write(fine));
    for (const path of ["/__sim/info", "//__sim/info", "/__sim//info"]) {
      expect(
        (await rawClient(sim.url, get(path).toString().replace("app.test", "127.0.0.1")).all).toString(),
      ).toContain("phx-sim");
    }
    expect(upstream.received()).toEqual([]);
  });

  test("25 MB both ways, unchanged", async () => {
    const body = Buffer.alloc(25 * 1024 * 1024, Buffer.from("0123456789abcdef\n"));
    body.write("#", body.length - 1);
    const { sim, upstream } = await through(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(body.subarray(0, -1));
        // an answer that was over before its request would end it
        socket.on("data", (chunk) => {
          if (chunk.at(-1) === body.at(-1)) socket.write(body.subarray(-1));
        });
      },
      // the search for secrets would take half a minute
      { raw: true },
    );
    const answer = await fetch(`${sim.url}/s/`, { method: "POST", body });
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
    expect(upstream.received()[0]?.subarray(-body.length).equals(body)).toBe(true);
  });
});

describe("ends that come too soon", () => {
  test("the upstream ends mid-body: so does the client's connection, after what came", async () => {
    const { sim } = await through((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", () => socket.destroySoon());
    });
    const got = await rawClient(sim.url, lines("GET /x HTTP/1.1", "Host: x")).all;
    expect(got.toString()).toMatch(/\r\n\r\nhalf$/);
    await sim.settle({ idleMs: 0 });
    expect(await sim.recording.get()).toMatchObject({ aborted: 1, failed: 0 });
  });

  test("the client goes away mid-answer: so does the upstream's connection", async () => {
    let closed = Promise.resolve();
    const { sim } = await through((socket) => {
      closed = new Promise((resolve) => void socket.on("close", () => resolve()));
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    });
    const client = rawClient(sim.url, get());
    await client.until(/half/);
    client.socket.destroy();
    await closed;
    await sim.settle({ idleMs: 0 });
    expect(await sim.recording.get()).toMatchObject({ aborted: 1, in_flight: 0 });
    expect((await sim.requests.list())[0]).toMatchObject({ rejected: { reason: "sender_gone" }, source: "upstream" });
  });

  test("the client goes away mid-upload", async () => {
    const { sim, upstream } = await through(() => {});
    const client = rawClient(
      sim.url,
      Buffer.concat([lines("POST /e HTTP/1.1", "Host: x", "Content-Length: 9"), Buffer.from("half")]),
    );
    await upstream.until("half");
    client.socket.destroy();
    await client.all;
    await sim.settle({ idleMs: 0 });
    expect(await sim.recording.get()).toMatchObject({ aborted: 1, in_flight: 0, passed: 1 });
  });

  test("no one listens: 502 in the service's shape, and the sim says so", async () => {
    const upstream = await rawUpstream(() => {});
    await upstream.close();
    const notices: string[] = [];
    const sim = await startSim({ upstream: upstream.url, onNotice: (text) => notices.push(text) });
    open.push(sim);
    const answer = await fetch(`${sim.url}/e/`, { method: "POST", body: "{}", headers: { origin: "http://app.test" } });
    expect(answer.status).toBe(502);
    expect(answer.headers.get("x-phx-source")).toBe("upstream");
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://app.test");
    expect(await answer.json()).toEqual({
      type: "server_error",
      code: "upstream_unreachable",
      detail: `${upstream.url} gave no response: nothing listens there: check that it is running, and the port (ECONNREFUSED)`,
      attr: null,
    });
    await sim.settle({ idleMs: 0 });
    expect(notices).toHaveLength(1);
    expect(await sim.recording.get()).toMatchObject({ failed: 1, last_failure: notices[0] });
    expect((await sim.requests.list())[0]).toMatchObject({ status: 502, rejected: { reason: "upstream_unreachable" } });
  });

  test.each([["not HTTP", "hello\r\n\r\n", /not HTTP/]])("an upstream that says %s", async (_, said, sentence) => {
    const { sim } = await through((socket) => void socket.end(said));
    const answer = await fetch(`${sim.url}/flags`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ detail: expect.stringMatching(sentence) });
  });

  test("an answer before the whole request has come", async () => {
    const { sim } = await through(
      (socket) => void socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"),
    );
    const client = rawClient(
      sim.url,
      Buffer.concat([lines("POST /e HTTP/1.1", "Host: x", "Content-Length: 900000"), Buffer.alloc(1000)]),
    );
    expect(await client.until(/\r\n\r\nno/)).toMatch(/^HTTP\/1\.1 413 Too Large/);
    client.socket.destroy();
  });
});
