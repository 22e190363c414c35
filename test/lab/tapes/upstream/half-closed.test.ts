import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import { exchange, answer as recorded, started, tapeOf } from "../replay/tapes.ts";

/** All that comes back to a client that ends its side after its request. */
function halfClosed(url: string, text: string, onSent = () => {}): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let got = "";
  socket.on("data", (chunk) => {
    got += chunk;
  });
  socket.end(text, onSent);
  return once(socket, "end").then(() => {
    socket.end();
    return got;
  });
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const post = (path: string, body = "{}") =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** An upstream that answers when it is let go: long after the client ended its side. */
async function upstream() {
  const waiting: ServerResponse[] = [];
  const arrivals: (() => void)[] = [];
  const server = createServer((req, res) => {
    waiting.push(res);
    req.resume().on("end", () => arrivals.shift()?.());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting,
    arrival: () => new Promise<void>((resolve) => void arrivals.push(resolve)),
  };
}

describe("a client that ends its side of the connection after its request", () => {
  test.each([
    ["GET", get("/api/a/")],
    ["POST", post("/api/a/")],
    ["two requests", get("/api/a/") + get("/api/a/")],
  ])("gets the upstream's answer: %s", async (_, text) => {
    const far = await upstream();
    const sim = await started({ upstream: far.url });
    const arrived = far.arrival();
    let sent = () => {};
    const isSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const answer = halfClosed(sim.url, text, sent);
    await Promise.all([arrived, isSent]);
    // the end of the client's side has come as well once a later connection is answered
    await fetch(`${sim.url}/__sim/info`);
    far.waiting.shift()?.end("first");
    if (text.match(/GET/g)?.length === 2) {
      if (far.waiting.length === 0) await far.arrival();
      far.waiting.shift()?.end("second");
      expect(await answer).toMatch(/first.*HTTP\/1\.1 200 OK.*second/s);
    } else expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*first/s);
    await sim.settle({ idleMs: 0 });
    expect(await sim.recording.get()).toMatchObject({ aborted: 0, failed: 0, in_flight: 0 });
  });

  test("gets the emulator's, a late one as well", async () => {
    const sim = await started({});
    expect(await halfClosed(sim.url, get("/array/x/config"))).toMatch(/^HTTP\/1\.1 \d{3} /);
    await sim.faults.apply({ effect: { latency: 30 } });
    expect(await halfClosed(sim.url, post("/flags/?v=2", `{"token":"${sim.apiKey}","distinct_id":"u"}`))).toMatch(
      /^HTTP\/1\.1 200 OK/,
    );
  });

  test("gets a tape's, at its pace", async () => {
    const slow = recorded({ a: 1 }, { ttfb: 20, total: 60 });
    const sim = await started({ tape: await tapeOf([exchange("GET /api/a/", slow)]), timing: "recorded" });
    expect(await halfClosed(sim.url, get("/api/a/"))).toMatch(/^HTTP\/1\.1 200 OK.*\{"a":1\}/s);
  });

  test("holds nothing: a request that is never answered ends with it", async () => {
    const sim = await startSim();
    await sim.faults.apply({ effect: { socket: "hang" } });
    expect(await halfClosed(sim.url, get("/flags/?v=2"))).toBe("");
    await sim.close();
  });
});
