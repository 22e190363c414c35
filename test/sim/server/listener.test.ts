import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { App } from "../../../src/kernel/http/app.ts";
import type { Call } from "../../../src/kernel/http/call.ts";
import { Gauge } from "../../../src/kernel/http/gauge.ts";
import { empty } from "../../../src/kernel/http/reply.ts";
import { listen } from "../../../src/sim/server/listener.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

/** Sends bytes, returns all that comes back until the server closes or `until` has been seen. */
const raw = (bytes: string | Buffer | (string | Buffer)[], until?: string, to: string = sim.url): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to);
    const socket = connect(Number(port), hostname);
    let text = "";
    const done = () => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk) => {
      text += chunk;
      if (until && text.includes(until)) done();
    });
    socket.on("close", done).on("error", reject);
    for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part);
  });

const event = () => JSON.stringify({ api_key: sim.apiKey, event: "a", distinct_id: "u" });
const post = (body: string, path = "/capture/", more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

describe("the socket listener", () => {
  test("pipelined requests on one connection are answered in order", async () => {
    const body = event();
    const text = await raw(post(body) + post(body) + post(body, "/capture/", "Connection: close\r\n"));
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
  });

  test("a chunked upload", async () => {
    const body = event();
    const text = await raw([
      "POST /capture HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
      `${body.length.toString(16)}\r\n${body}\r\n`,
      "0\r\n\r\n",
    ]);
    expect(text).toContain("HTTP/1.1 200 OK");
  });

  test("double slashes and a host with a trailing slash", async () => {
    const text = await raw(post(event(), "//capture//", "Connection: close\r\n"));
    expect(text).toContain("HTTP/1.1 200 OK");
  });

  test.each([
    ["announced", (size: number) => `Content-Length: ${size}\r\n\r\n`],
    ["chunked", () => `Transfer-Encoding: chunked\r\n\r\n${(21 * 1024 * 1024).toString(16)}\r\n`],
  ])("a body over 20 MiB (%s) is 413, and the journal knows", async (_, framing) => {
    const size = 21 * 1024 * 1024;
    const head = `POST /batch/ HTTP/1.1\r\nHost: x\r\n${framing(size)}`;
    const text = await raw([head, Buffer.alloc(size, 0x20)], "maximum event size exceeded");
    expect(text).toMatch(/^HTTP\/1\.1 413/);
    expect((await sim.requests.list({ outcome: "rejected", limit: 1 }))[0]).toMatchObject({
      status: 413,
      rejected: { reason: "payload_too_large" },
    });
  });

  test("bytes that are not HTTP", async () => {
    expect(await raw("\x00\x01\x02 hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400/);
  });

  test("a header over the limit", async () => {
    expect(await raw(`GET / HTTP/1.1\r\nX: ${"x".repeat(100_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431/);
  });

  test("a sender that goes away mid-body leaves nothing in flight", async () => {
    const { hostname, port } = new URL(sim.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write("POST /capture/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", () => socket.destroy());
      });
      socket.on("close", () => resolve());
    });
    // the sim may notice it later than the sender
    await expect
      .poll(async () => (await sim.requests.list({ outcome: "rejected", limit: 1 }))[0])
      .toMatchObject({ target: "/capture/", status: 499, rejected: { reason: "sender_gone" } });
    expect((await sim.info()).in_flight).toBe(0);
  });

  test("a body that stops arriving is given up, and the journal knows", async () => {
    const reported: [Call, string][] = [];
    const app: App = {
      handle: () => Promise.reject(new Error("the body is not complete")),
      bodyLimit: () => 1_000,
      refuseTooLarge: () => Promise.reject(new Error("the body is not too large")),
      async abandon(call, why) {
        reported.push([call, why]);
        return empty(408);
      },
    };
    const host = "127.0.0.1";
    const gauge = new Gauge();
    const listener = await listen({ app, clock: systemClock, gauge, host, port: 0, bodyTimeout: 20 });
    const head = "POST /capture/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf";
    const text = await raw(head, undefined, `http://${host}:${listener.port}`);
    expect(text).toMatch(/^HTTP\/1\.1 408/);
    await gauge.quiet(0, AbortSignal.timeout(5_000));
    expect(reported.map(([call, why]) => [call.target, call.body.toString(), why])).toEqual([
      ["/capture/", "half", "body_read_timeout"],
    ]);
    await listener.close();
  });
});

test("an answer that comes while the port is closing is its connection's last", async () => {
  const calls = new EventEmitter();
  const app: App = {
    handle: () => new Promise((resolve) => calls.emit("call", resolve)),
    bodyLimit: () => 1_000,
    refuseTooLarge: () => Promise.reject(new Error("the body is not too large")),
    abandon: () => Promise.reject(new Error("no call is aborted")),
  };
  const host = "127.0.0.1";
  const listener = await listen({ app, clock: systemClock, gauge: new Gauge(), host, port: 0 });
  const asked = once(calls, "call");
  const reported = raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n", undefined, `http://${host}:${listener.port}`);
  const [answer] = await asked;
  const closed = listener.close(60_000);
  answer(empty(204));
  expect(await reported).toMatch(/^HTTP\/1\.1 204 .*connection: close/is);
  await closed;
});

describe("methods that no one asked for", () => {
  const rows: [method: string, path: string, status: number][] = [
    ["OPTIONS", "/capture/", 200],
    ["OPTIONS", "/flags/", 200],
    ["OPTIONS", "/flags/definitions", 200],
    ["OPTIONS", "/decide", 200],
    ["OPTIONS", "/i/v1/analytics/events", 204],
    ["DELETE", "/batch/", 405],
    ["PUT", "/flags", 405],
    ["HEAD", "/e/", 400],
    ["GET", "/no/such/path", 404],
    ["GET", "/api/no/such/path", 404],
  ];
  test.each(rows)("%s %s → %i", async (method, path, status) => {
    const response = await fetch(sim.url + path, { method, headers: { origin: "https://app.example" } });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(response.headers.get("access-control-allow-credentials")).toBe("true");
  });

  test("a preflight mirrors what is asked for", async () => {
    const response = await fetch(`${sim.url}/batch/`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-headers": "content-type,x-foo" },
    });
    expect(response.headers.get("access-control-allow-headers")).toBe("content-type,x-foo");
    expect(response.headers.get("access-control-allow-methods")).toBe("GET, POST, OPTIONS");
  });

  test("strict: 501 with the nearest endpoint", async () => {
    await using strict = await startSim({ strict: true });
    const response = await fetch(`${strict.url}/api/projects/1/plugin_configs/`);
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ code: "not_emulated" });
  });
});
