import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import type { App } from "../../../../src/kernel/http/app.ts";
import type { Call } from "../../../../src/kernel/http/call.ts";
import { Gauge } from "../../../../src/kernel/http/gauge.ts";
import { empty } from "../../../../src/kernel/http/reply.ts";
import { listen } from "../../../../src/sim/server/listener.ts";
import { openCa } from "../../../../src/sim/server/proxy/certificate-authority.ts";
import { newFolder } from "../../../support/folder.ts";
import { ask2, dial, http2Over, secured, talk, tunnel } from "./clients.ts";

const folder = newFolder();
const caFolder = join(folder, "ca");
const notices: string[] = [];
const closing: (() => Promise<unknown>)[] = [];
let sim: Sim;
let ca: string;
let certFile: string;
/** Another host of this machine, which the proxy may reach. */
let other: string;
let echo: number;

const open = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
};

const seen: { line: string; raw: string[] }[] = [];
const otherHost: RequestListener = (req, res) => {
  seen.push({ line: `${req.method} ${req.url}`, raw: req.rawHeaders });
  req.resume().on("end", () => {
    res.sendDate = false;
    res.writeHead(203, "Odd Indeed", ["Set-Cookie", "a=1", "X-ODD", "1", "Set-Cookie", "b=2", "Content-Length", "5"]);
    res.end("other");
  });
};

/** Answers the handshake of a websocket, and then says what it hears. */
const websocketEcho = (server: Server): Server =>
  server.on("upgrade", (req, socket: Socket, head: Buffer) => {
    const seed = `${req.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(seed).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.write(head);
    socket.pipe(socket);
  });

beforeAll(async () => {
  ({ cert: ca, certFile } = await openCa(caFolder));
  const web = await open(websocketEcho(createServer(otherHost)));
  other = `127.0.0.1:${web}`;
  echo = await open(createTcp({ allowHalfOpen: true }, (socket) => socket.pipe(socket)));
  const allow = [other, `127.0.0.1:${echo}`];
  sim = await startSim({ proxy: { caFolder, allow }, onNotice: (text) => notices.push(text) });
});

afterAll(async () => {
  await sim.close();
  await Promise.all(closing.map((close) => close()));
});

const event = (name: string) => JSON.stringify({ api_key: sim.apiKey, event: name, distinct_id: "u" });
const post = (target: string, host: string, body: string, more = "") =>
  `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const get = (target: string, host: string, more = "") => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const arrived = async (name: string) => expect(await sim.events.list({ event: name })).toHaveLength(1);
const run = async (command: string, args: string[], env: Record<string, string> = {}) => {
  const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)));
  const { stdout } = await promisify(execFile)(command, args, { env: { ...plain, ...env }, timeout: 30_000 });
  return stdout;
};
const curl = (...args: string[]) => run("curl", ["-sS", "--max-time", "20", ...args]);
const here = (command: string, flag = "--version") =>
  run(command, [flag]).then(
    () => true,
    () => false,
  );
const hasCurl = await here("curl");
const hasPython = await here("python3");

/** A listener for an app of the test. */
function listenerParts(handle: App["handle"]) {
  const app: App = {
    handle,
    bodyLimit: () => 1_000,
    refuseTooLarge: async () => empty(413),
    abandon: async () => empty(499),
  };
  return { app, clock: systemClock, gauge: new Gauge(), host: "127.0.0.1", port: 0 };
}

describe("in clear", () => {
  test("a request in absolute form is the host's", async () => {
    const text = await talk(
      dial(sim.url),
      post("http://us.i.posthog.com/capture/", "us.i.posthog.com", event("absolute")),
      "Ok",
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    await arrived("absolute");
  });

  test("a connection takes absolute and direct requests by turns", async () => {
    const body = event("turns");
    const bytes = [
      post("http://eu.i.posthog.com/capture/", "eu.i.posthog.com", body),
      post("/capture/", "127.0.0.1", body),
      get("http://us.i.posthog.com/__sim/info", "us.i.posthog.com", ""),
      get("/__sim/info", new URL(sim.url).host, "Connection: close\r\n"),
    ];
    const text = await talk(dial(sim.url), bytes);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 403", "HTTP/1.1 200"]);
  });

  test("HTTP in a tunnel to one of our hosts", async () => {
    const { socket, status } = await tunnel(sim.url, "us.i.posthog.com:80");
    expect(status).toBe(200);
    const bytes = post("/capture/", "us.i.posthog.com", event("tunnelled"));
    expect(await talk(socket, bytes, "Ok")).toMatch(/^HTTP\/1\.1 200 /);
    await arrived("tunnelled");
  });

  test("HTTP/2 with prior knowledge", async () => {
    const answer = await ask2(connectHttp2(sim.url), "/capture/", event("h2c"));
    expect(answer.status).toBe(200);
    await arrived("h2c");
  });

  test.each(["h2c", "h2c, websocket"])("Upgrade: %s is not taken up, and the request answered", async (upgrade) => {
    const more = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n`;
    const bytes = post("/capture/", "127.0.0.1", event("upgrade"), more);
    expect(await talk(dial(sim.url), bytes, "Ok")).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("byte by byte", async () => {
    const socket = dial(sim.url);
    const answer = talk(socket, [], "Ok");
    socket.setNoDelay(true);
    for (const byte of post("/capture/", "127.0.0.1", event("slow"))) {
      await new Promise((resolve) => socket.write(byte, resolve));
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    await arrived("slow");
  });

  test("half-closed after the request", async () => {
    const socket = dial(sim.url);
    const answer = talk(socket, post("/capture/", "127.0.0.1", event("half")));
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ["noise", Buffer.from([0, 1, 2, 3, 13, 10, 13, 10])],
    ["SOCKS 5", Buffer.from([5, 1, 0, 13, 10])],
    ["half a preface", Buffer.from("PRX / HTTP/1.1\r\n\r\n")],
    ["CONNECT to nothing", Buffer.from("CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n")],
  ])("%s is answered with 400", async (_, bytes) => {
    expect(await talk(dial(sim.url), bytes)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("in TLS", () => {
  test("HTTP/1.1 in a tunnel: head and body as they were sent, and whose they are", async () => {
    const calls: Call[] = [];
    const listener = await listen({
      ...listenerParts(async (call) => {
        calls.push(call);
        return empty(204);
      }),
      proxy: { caFolder },
    });
    const { socket } = await tunnel(`http://127.0.0.1:${listener.port}`, "us.i.posthog.com:443");
    const inner = await secured(socket, { ca, host: "us.i.posthog.com" });
    const head = [
      "zeta",
      "1",
      "Host",
      "us.i.posthog.com",
      "X-ODD",
      "a",
      "x-odd",
      "b",
      "Alpha",
      "",
      "Content-Length",
      "5",
    ];
    const lines = head.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${head[i + 1]}`] : []));
    const bytes = Buffer.from([0x1f, 0x8b, 0, 0xff, 0x0a]);
    const start = Buffer.from(`POST //batch/?a=%2F&a HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    const text = await talk(inner, Buffer.concat([start, bytes]), "\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 204 /);
    const [call] = calls;
    expect(call?.rawHeaders.slice(0, head.length)).toEqual(head);
    expect(call?.body.equals(bytes)).toBe(true);
    expect(call).toMatchObject({
      method: "POST",
      target: "//batch/?a=%2F&a",
      origin: "https://us.i.posthog.com",
      proxied: true,
    });
    await listener.close();
  });

  test("HTTP/2 in a tunnel, by ALPN", async () => {
    const { socket } = await tunnel(sim.url, "eu.i.posthog.com:443");
    const inner = await secured(socket, { ca, host: "eu.i.posthog.com", alpn: ["h2", "http/1.1"] });
    expect(inner.alpnProtocol).toBe("h2");
    const answer = await ask2(http2Over(inner, "eu.i.posthog.com"), "/capture/", event("h2"));
    expect(answer.status).toBe(200);
    await arrived("h2");
  });

  test("right at the port", async () => {
    const inner = await secured(dial(sim.url), { ca, host: "localhost" });
    const bytes = post("/capture/", `localhost:${new URL(sim.url).port}`, event("direct-tls"));
    expect(await talk(inner, bytes, "Ok")).toMatch(/^HTTP\/1\.1 200 /);
    await arrived("direct-tls");
  });

  test("a body over the limit is refused in words", async () => {
    const { socket } = await tunnel(sim.url, "us.i.posthog.com:443");
    const inner = await secured(socket, { ca, host: "us.i.posthog.com" });
    const large = " ".repeat(21 * 1024 * 1024);
    const text = await talk(inner, post("/batch/", "us.i.posthog.com", large), "maximum event size exceeded");
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("the authority is good for no other name", async () => {
    const attempt = secured(dial(sim.url), { ca, host: "bank.example" });
    await expect(attempt).rejects.toThrow(/permitted subtree|certificate|disconnected|reset/i);
  });

  test("a client that does not trust it: one line says whose certificate, and what to do", async () => {
    const { socket } = await tunnel(sim.url, "app.posthog.com:443");
    await expect(secured(socket, { ca: "", host: "app.posthog.com" })).rejects.toThrow();
    await expect.poll(() => notices.filter((it) => it.includes("app.posthog.com"))).toHaveLength(1);
    expect(notices.join()).toContain(`NODE_EXTRA_CA_CERTS=${certFile}`);
  });

  test("another host's name in the tunnel is refused", async () => {
    const { socket } = await tunnel(sim.url, "us.i.posthog.com:443");
    const inner = await secured(socket, { ca, host: "us.i.posthog.com" });
    expect(await talk(inner, get("/flags", "evil.example"), "\r\n\r\n")).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe("the control API and the page answer direct calls only", () => {
  const paths = ["/__sim/info", "/__sim/", "//__sim/info", "/__sim/openapi.json", "/__sim/state/reset"];
  const own = () => new URL(sim.url).host;
  const refused = /^HTTP\/1\.1 (403|404|405) /;

  test.each(paths)("%s in absolute form", async (path) => {
    for (const host of [own(), "us.i.posthog.com"]) {
      expect(await talk(dial(sim.url), get(`http://${host}${path}`, own()), "\r\n\r\n")).toMatch(refused);
    }
  });

  test.each(paths)("%s in a tunnel", async (path) => {
    for (const to of [own(), `localhost:${new URL(sim.url).port}`, "us.i.posthog.com:80"]) {
      const { socket, status } = await tunnel(sim.url, to);
      expect(status).toBe(200);
      expect(await talk(socket, get(path, own()), "\r\n\r\n")).toMatch(refused);
    }
  });

  test.each(paths)("%s in TLS", async (path) => {
    const { socket } = await tunnel(sim.url, "us.i.posthog.com:443");
    const inner = await secured(socket, { ca, host: "us.i.posthog.com" });
    expect(await talk(inner, get(path, own()), "\r\n\r\n")).toMatch(refused);
  });

  test("a change in a tunnel changes nothing", async () => {
    const before = (await sim.events.list({})).length;
    const { socket } = await tunnel(sim.url, own());
    const text = await talk(socket, post("/__sim/reset", own(), "{}"), "\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 (403|404) /);
    expect(await sim.events.list({})).toHaveLength(before);
  });
});

describe("other hosts", () => {
  test("a request in absolute form goes there and back byte for byte", async () => {
    const more = "X-Odd: 1\r\nx-odd: 2\r\nProxy-Connection: keep-alive\r\nConnection: close\r\n";
    const text = await talk(dial(sim.url), get(`http://${other}/a//b?c=%2F`, other, more));
    expect(seen.at(-1)?.line).toBe("GET /a//b?c=%2F");
    expect(seen.at(-1)?.raw.slice(0, 6)).toEqual(["Host", other, "X-Odd", "1", "x-odd", "2"]);
    expect(text).toContain("HTTP/1.1 203 Odd Indeed\r\nSet-Cookie: a=1\r\nX-ODD: 1\r\nSet-Cookie: b=2\r\n");
    expect(text.endsWith("other")).toBe(true);
  });

  test("a tunnel passes bytes both ways, half-closed included", async () => {
    const { socket } = await tunnel(sim.url, `127.0.0.1:${echo}`);
    const answer = talk(socket, "\x16\x03 not TLS at all");
    socket.end();
    expect(await answer).toBe("\x16\x03 not TLS at all");
  });

  test("a websocket in a tunnel", async () => {
    const { socket } = await tunnel(sim.url, other);
    const more =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const text = await talk(socket, [get("/ws", other, more), "frame"], "frame");
    expect(text).toMatch(/^HTTP\/1\.1 101 /);
    expect(text).toContain("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  });

  test.each(["127.0.0.1:1", "[::1]:1", "169.254.169.254:80", "10.0.0.1:443", "localhost:1"])(
    "%s is refused",
    async (to) => {
      const { socket, status, head } = await tunnel(sim.url, to);
      socket.destroy();
      expect([status, head]).toEqual([403, expect.stringContaining("does not forward")]);
      expect(await talk(dial(sim.url), get(`http://${to}/`, to), "NO_PROXY")).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  test("what cannot be reached is 502", async () => {
    const { socket, status } = await tunnel(sim.url, "nowhere.invalid:443");
    socket.destroy();
    expect(status).toBe(502);
  });
});

describe("settings", () => {
  test("others: refuse", async () => {
    const strict = await startSim({ proxy: { others: "refuse", allow: [other] } });
    const { socket, status } = await tunnel(strict.url, other);
    socket.destroy();
    expect(status).toBe(403);
    expect(await talk(dial(strict.url), get(`http://${other}/`, other), "\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
    await strict.close();
  });

  test("no proxy at all", async () => {
    const plain = await startSim({ proxy: false });
    const absolute = get("http://us.i.posthog.com/__sim/info", "us.i.posthog.com");
    expect(await talk(dial(plain.url), absolute, "\r\n\r\n")).not.toMatch(/^HTTP\/1\.1 200 /);
    expect((await fetch(`${plain.url}/__sim/info`)).status).toBe(200);
    await plain.close();
  });

  test("a rule that cannot be read is reported at the start", async () => {
    await expect(startSim({ proxy: { allow: ["a b"] } })).rejects.toMatchObject({ code: "proxy" });
  });

  const lan = Object.values(networkInterfaces())
    .flatMap((cards) => cards ?? [])
    .find((card) => !card.internal && card.family === "IPv4")?.address;
  test.runIf(lan !== undefined)("other machines cannot use it, however wide the port is open", async () => {
    const wide = await startSim({ host: "0.0.0.0", proxy: { caFolder } });
    const url = `http://${lan}:${new URL(wide.url).port}`;
    expect(await talk(dial(url), "CONNECT us.i.posthog.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(await talk(dial(url), get("http://example.com/", "example.com"))).toMatch(/^HTTP\/1\.1 421 /);
    await expect(secured(dial(url), { ca, host: "localhost" })).rejects.toThrow();
    await wide.close();
  });

  test.runIf(lan !== undefined)("neither the port nor its helper answers on the LAN address", async () => {
    const url = `http://${lan}:${new URL(sim.url).port}`;
    await expect(talk(dial(url), get("/flags", "x"))).rejects.toThrow(/ECONNREFUSED/);
  });

  test("a connection that says nothing is given up", async () => {
    const listener = await listen({ ...listenerParts(async () => empty(200)), bodyTimeout: 20, proxy: {} });
    expect(await talk(dial(`http://127.0.0.1:${listener.port}`), [])).toBe("");
    await listener.close();
  });

  test("clients that break off at once do it no harm, cold or warm", async () => {
    const brief = await startSim({ proxy: { caFolder } });
    const head = "CONNECT us.i.posthog.com:443 HTTP/1.1\r\nHost: x\r\n\r\n";
    const starts = [
      head,
      `${head}\x16\x03\x01`,
      "\x16\x03\x01",
      "PRI * HTTP/2.0\r\n",
      "P",
      `CONNECT 127.0.0.1:${echo} HTTP/1.1\r\n\r\n`,
    ];
    for (const start of [...starts, ...starts, ...starts]) {
      const socket = dial(brief.url);
      await new Promise((resolve) => socket.write(start, "latin1", resolve));
      socket.resetAndDestroy();
    }
    const body = event("after").replace(sim.apiKey, brief.apiKey);
    const { socket } = await tunnel(brief.url, "us.i.posthog.com:443");
    const answer = await talk(
      await secured(socket, { ca, host: "us.i.posthog.com" }),
      post("/capture/", "us.i.posthog.com", body, "Connection: close\r\n"),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await brief.events.list({ event: "after" })).toHaveLength(1);
    await brief.close();
  });

  test("closing ends tunnels and silent connections", async () => {
    const brief = await startSim({ proxy: { caFolder, allow: [`127.0.0.1:${echo}`] } });
    const { socket } = await tunnel(brief.url, `127.0.0.1:${echo}`);
    const silent = dial(brief.url);
    await new Promise((resolve) => silent.once("connect", resolve));
    const ended = [socket, silent].map((it) => new Promise((resolve) => it.resume().once("close", resolve)));
    await brief.close();
    await expect(Promise.all(ended)).resolves.toHaveLength(2);
  });
});

describe.runIf(hasCurl)("curl", () => {
  const body = (name: string) => ["-H", "content-type: application/json", "-d", event(name)];
  test.each([
    ["http-proxy", ["http://us.i.posthog.com/capture/"]],
    ["https-proxy", ["https://us.i.posthog.com/capture/"]],
    ["https-proxy-h1", ["--http1.1", "https://us.i.posthog.com/capture/"]],
    ["proxytunnel", ["-p", "http://us.i.posthog.com/capture/"]],
  ])("%s", async (name, args) => {
    const out = await curl("-x", sim.url, "--cacert", certFile, ...body(name), ...args);
    expect(JSON.parse(out)).toEqual({ status: "Ok" });
    await arrived(name);
  });

  test("without the CA it does not get through", async () => {
    await expect(curl("-x", sim.url, "https://us.i.posthog.com/flags")).rejects.toThrow(/certificate/i);
  });
});

describe.runIf(hasPython)("Python's standard library", () => {
  test("through the proxy, with the CA", async () => {
    const code = `
import json, os, ssl, urllib.request
context = ssl.create_default_context(cafile=os.environ["CA"])
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"https": os.environ["SIM"], "http": os.environ["SIM"]}),
    urllib.request.HTTPSHandler(context=context))
for scheme in ("http", "https"):
    body = json.dumps({"api_key": os.environ["KEY"], "event": "python-" + scheme, "distinct_id": "u"}).encode()
    request = urllib.request.Request(scheme + "://us.i.posthog.com/capture/", body, {"Content-Type": "application/json"})
    print(opener.open(request, timeout=20).status)
`;
    const out = await run("python3", ["-c", code], { CA: certFile, SIM: sim.url, KEY: sim.apiKey });
    expect(out.trim().split(/\s+/)).toEqual(["200", "200"]);
    await arrived("python-http");
    await arrived("python-https");
  });
});

test("the CA's key stays in its file", async () => {
  const [, key = "missing"] =
    /PRIVATE KEY-----\s+([\w+/]{60})/.exec(readFileSync(join(caFolder, "ca.key"), "utf8")) ?? [];
  expect(key).toHaveLength(60);
  const shown = [readFileSync(certFile, "utf8"), ...notices, JSON.stringify(await sim.info())];
  expect(shown[0]).toContain("BEGIN CERTIFICATE");
  for (const text of shown) expect(text).not.toContain(key);
});
