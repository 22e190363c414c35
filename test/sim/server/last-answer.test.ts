import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { Gauge } from "../../../src/kernel/http/gauge.ts";
import { text } from "../../../src/kernel/http/reply.ts";
import { listen } from "../../../src/sim/server/listener.ts";
import { openSim } from "../../support/sim.ts";

const megabyte = 1024 * 1024;
const block = Buffer.alloc(megabyte, 0x61);

const open = async (port: number): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  // Each write and read reports it.
  socket.on("error", () => {});
  return socket;
};

/** Resolves once the system has taken the bytes; rejects with EPIPE or ECONNRESET where the other side is closed. */
const write = (socket: Socket, bytes: string | Buffer) =>
  new Promise<void>((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())));

/** All that arrives until the connection ends, or a whole answer to a request that keeps it open. */
const read = (socket: Socket, isWhole: (text: string) => boolean = () => false) =>
  new Promise<string>((resolve, reject) => {
    let answer = "";
    const done = () => resolve(answer);
    const take = (chunk: Buffer) => {
      answer += chunk;
      if (!isWhole(answer)) return;
      socket.off("data", take).off("end", done);
      done();
    };
    socket.on("data", take).once("end", done).once("error", reject);
    socket.resume();
  });

/** Writes all of it before it reads the answer, as blocking clients do. */
async function askInVain(socket: Socket, head: string, megabytes: number, isChunked = false) {
  socket.pause();
  await write(socket, head);
  for (let i = 0; i < megabytes; i++) {
    if (isChunked) await write(socket, `${megabyte.toString(16)}\r\n`);
    await write(socket, isChunked ? Buffer.concat([block, Buffer.from("\r\n")]) : block);
  }
  if (isChunked) await write(socket, "0\r\n\r\n");
  return await read(socket);
}

const tries = 5;

const { sim } = await openSim();
describe("a client that reads after it has written everything gets the answer", () => {
  let port: number;
  beforeAll(async () => {
    port = Number(new URL(sim.url).port);
  });

  const post = (target: string, more: string) => `POST ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const length = `Content-Length: ${32 * megabyte}\r\n`;
  const refused: Record<string, [status: number, head: string, isChunked?: boolean]> = {
    "an announced body over the limit": [413, post("/capture/", length)],
    "a chunked body over the limit": [413, post("/capture/", "Transfer-Encoding: chunked\r\n"), true],
    "a body over the limit of a row that is not loaded": [413, post("/api/projects/1/dashboards/", length)],
    "a content length that is no number": [400, post("/capture/", "Content-Length: many\r\n")],
    "two content lengths": [400, post("/capture/", `Content-Length: 1\r\n${length}`)],
    "a head over the limit": [431, post("/capture/", `X: ${"x".repeat(100_000)}\r\n${length}`)],
    "too many headers": [431, post("/capture/", `${"X: 1\r\n".repeat(10_000)}${length}`)],
    "bytes that are not HTTP": [400, "HELO mail.example\r\n"],
    "two Hosts": [400, post("/capture/", `host: localhost\r\n${length}`)],
    "no Host": [400, `POST /capture/ HTTP/1.1\r\n${length}\r\n`],
    "a tunnel to a refused target": [403, "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n"],
    "a refused target in absolute form": [403, post("http://169.254.169.254/", length)],
    "a target that cannot be reached": [502, post("http://no-such-host.invalid/", length)],
  };

  test.each(Object.entries(refused))("%s", async (_, [status, head, isChunked]) => {
    for (let i = 0; i < tries; i++) {
      const socket = await open(port);
      await write(socket, "GET /__sim/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
      expect(await read(socket, (it) => it.includes("}"))).toMatch(/^HTTP\/1\.1 200 /);
      const answer = await askInVain(socket, head, 32, isChunked);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    }
  });

  test("a live feed for another page, on a connection of its own", async () => {
    const offer =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const head = `GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n${offer}\r\n`;
    for (let i = 0; i < tries; i++) expect(await askInVain(await open(port), head, 32)).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("a request that was refused is in flight no longer, even while the rest arrives", async () => {
    const socket = await open(port);
    await write(socket, post("/capture/", length));
    await read(socket, (it) => it.includes("maximum event size"));
    expect((await sim.info()).in_flight).toBe(0);
    socket.destroy();
  });
});

describe("the rest is read within limits", () => {
  const app = {
    handle: () => Promise.reject(new Error("the body is too large")),
    bodyLimit: () => 10,
    refuseTooLarge: async () => text("too large", 413),
    abandon: () => Promise.reject(new Error("the request was refused")),
  };
  const at = { app, clock: systemClock, gauge: new Gauge(), host: "127.0.0.1", port: 0 };

  test.each([
    ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf", 413],
    ["no HTTP\r\n\r\n", 400],
  ])("of time: %j", async (head, status) => {
    const listener = await listen({ ...at, bodyTimeout: 50 });
    const socket = connect({ port: listener.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write(head);
    expect(await read(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    // Its own half stays open: only the limit makes the connection refuse what it writes.
    const broken = new Promise((resolve) => socket.once("error", resolve));
    const writing = setInterval(() => socket.write("more"), 5);
    expect(await broken).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
    clearInterval(writing);
    await listener.close(0);
  });

  test("of bytes", async () => {
    const listener = await listen(at);
    const socket = await open(listener.port);
    const gibibyte = 1024;
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${gibibyte * megabyte}\r\n\r\n`;
    await expect(askInVain(socket, head, gibibyte)).rejects.toThrow(/EPIPE|ECONNRESET/);
    await listener.close(0);
  });
});
