import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type SimOptions, startSim } from "../../../../src/index.ts";
import { newFolder } from "../../../support/folder.ts";
import { answer, asked, exchange, started, tapeOf } from "../replay/tapes.ts";
import { rawClient } from "./raw-upstream.ts";

/** A service that sends back what it gets at /echo, and refuses other websockets. */
async function service() {
  const heads: { url: string | undefined; headers: Record<string, unknown> }[] = [];
  const server = createServer((_, res) => void res.writeHead(404, { "x-a": "1" }).end("no such path"));
  const echo = new WebSocketServer({ noServer: true, handleProtocols: () => "b" });
  server.on("upgrade", (req, socket, head) => {
    heads.push({ url: req.url, headers: req.headers });
    if (!req.url?.startsWith("/echo")) {
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
      return;
    }
    echo.handleUpgrade(req, socket, head, (ws) => {
      ws.send("welcome");
      ws.on("message", (data, isBinary) => ws.send(data, { binary: isBinary }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const client of echo.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads, echo };
}

async function recording(options: SimOptions = {}) {
  const far = await service();
  const notices: string[] = [];
  const tape = join(newFolder(), "sockets.tape.ndjson");
  const sim = await started({ upstream: far.url, tape, onNotice: (it) => notices.push(it), ...options });
  return { far, notices, tape, sim };
}

const open = (url: string, path: string) => new WebSocket(`${url.replace("http", "ws")}${path}`, ["a", "b"]);

describe("websockets while recording", () => {
  test.each<[string, SimOptions]>([
    ["with a proxy on the port", {}],
    ["without one", { proxy: false }],
  ])("are passed on, not recorded, and reported: %s", async (_, options) => {
    const { far, notices, tape, sim } = await recording(options);
    const socket = open(sim.url, "/echo?token=phc_mine");
    const [welcome] = await once(socket, "message");
    expect(String(welcome)).toBe("welcome");
    expect(socket.protocol).toBe("b");
    const large = Buffer.alloc(300_000, 7);
    socket.send(large);
    const [back] = await once(socket, "message");
    expect(large.equals(back)).toBe(true);
    expect(far.heads[0]).toMatchObject({
      url: "/echo?token=phc_mine",
      headers: { host: new URL(far.url).host, upgrade: "websocket", "sec-websocket-protocol": "a,b" },
    });
    const again = open(sim.url, "/echo");
    await once(again, "message");
    expect(notices.filter((it) => it.includes("websocket"))).toEqual([
      `the websocket ${new URL(far.url).host}/echo is passed on; websockets are not recorded`,
    ]);
    await expect
      .poll(async () => (await sim.requests.list()).map(({ status, source }) => [status, source]))
      .toEqual([
        [101, "upstream"],
        [101, "upstream"],
      ]);
    // Each side's end is the other's.
    socket.close(4001, "enough");
    expect((await once(socket, "close"))[0]).toBe(4001);
    for (const client of far.echo.clients) client.close(4002);
    expect((await once(again, "close"))[0]).toBe(4002);
    await fetch(`${sim.url}/api/x/`);
    await sim.close();
    expect(readFileSync(tape, "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  test("one that the upstream refuses, or that it cannot get", async () => {
    const { sim } = await recording();
    const handshake = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const refused = String(await rawClient(sim.url, handshake("/other")).all);
    expect(refused).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n.*x-phx-source: upstream\r\n\r\nno$/s);
    const gone = await service();
    const alone = await started({ upstream: gone.url.replace(/\d+$/, "1") });
    expect(String(await rawClient(alone.url, handshake("/echo")).all)).toMatch(
      /^HTTP\/1\.1 502 .*"code":"upstream_unreachable"/s,
    );
    await alone.settle({ idleMs: 0 });
    expect(await alone.recording.get()).toMatchObject({ failed: 1, passed: 1 });
  });

  test("through the proxy, in a tunnel to a host of the service", async () => {
    const { far, sim } = await recording();
    const client = rawClient(sim.url, "CONNECT us.i.posthog.com:80 HTTP/1.1\r\nHost: us.i.posthog.com\r\n\r\n");
    await client.until(/Established\r\n\r\n/);
    client.socket.write(
      "GET /echo HTTP/1.1\r\nHost: us.i.posthog.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    expect(await client.until(/welcome/)).toMatch(/HTTP\/1\.1 101 Switching Protocols\r\n.*welcome$/s);
    expect(far.heads[0]).toMatchObject({ url: "/echo", headers: { host: new URL(far.url).host } });
    client.socket.destroy();
    await client.all;
  });

  test("the sim closes while one is open", async () => {
    const far = await service();
    const sim = await startSim({ upstream: far.url });
    const socket = open(sim.url, "/echo");
    await once(socket, "message");
    await sim.close();
    expect((await once(socket, "close"))[0]).toBe(1006);
  });

  test("the sim's own feed, and other offers, are answered here", async () => {
    const { far, sim } = await recording();
    const feed = new WebSocket(`${sim.url.replace("http", "ws")}/__sim/ws`);
    await once(feed, "open");
    feed.terminate();
    const h2c = "GET /api/x/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n";
    expect(String(await rawClient(sim.url, h2c).all)).toMatch(/^HTTP\/1\.1 404 .*no such path/s);
    expect(far.heads).toEqual([]);
  });
});

test("a replay has none, and its answer gives the reason", async () => {
  const sim = await started({ tape: await tapeOf([exchange("GET /api/a/", answer({}))]) });
  const headers = "Host: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket";
  const got = String(await rawClient(sim.url, `GET /live HTTP/1.1\r\n${headers}\r\n\r\n`).all);
  expect(got).toMatch(/^HTTP\/1\.1 599 .*has no response for GET \/live.*; websockets are not recorded/s);
  expect((await asked(sim, "GET /live")).text).not.toContain("websockets");
});
