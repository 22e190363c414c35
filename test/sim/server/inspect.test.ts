import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { openPage, refusalOf } from "../../support/feed-page.ts";
import { openSim } from "../../support/sim.ts";

let plain: Sim;
const { sim } = await openSim();
beforeAll(async () => {
  plain = await startSim({ proxy: false });
});
afterAll(async () => {
  await plain.close();
});

const sims: [name: string, of: () => Sim][] = [
  ["with a proxy", () => sim],
  ["proxy: false", () => plain],
];

/** Sends bytes one after the other, returns what comes back until `until` has been seen, or the end. */
const raw = (to: Sim, parts: readonly string[], until: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    const rest = [...parts];
    const next = () => {
      const part = rest.shift();
      if (part !== undefined) socket.write(part, () => setImmediate(next));
    };
    const done = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setNoDelay(true).on("connect", next);
    socket.on("data", (chunk) => {
      text += chunk;
      if (until.test(text)) done();
    });
    socket.on("close", done).on("error", reject);
  });

const handshake = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "",
  "",
].join("\r\n");
const capture = (to: Sim) =>
  to.handle(
    new Request(`${to.url}/capture/`, {
      method: "POST",
      body: JSON.stringify({ api_key: to.apiKey, event: "seen", distinct_id: "u" }),
    }),
  );

describe.each(sims)("the listener of the feed, %s", (_, of) => {
  test("a page hears of an event", async () => {
    await using page = await openPage(of().url);
    expect(await page.subscribe()).toMatchObject({ reset: false });
    await capture(of());
    expect(await page.heard("rows")).toMatchObject({
      events: [{ event: "seen", distinct_id: "u", outcome: "kept" }],
      requests: [{ method: "POST", target: "/capture/", status: 200, events: 1 }],
    });
  });

  test("a handshake that comes byte by byte", async () => {
    const text = await raw(of(), [..."GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\n", handshake], /\r\n\r\n/);
    expect(text).toContain("HTTP/1.1 101 ");
  });

  test("a plain call gets the path's protocol in an error", async () => {
    const answer = await fetch(`${of().url}/__sim/ws`);
    expect(answer.status).toBe(426);
    expect(await answer.json()).toMatchObject({ code: "upgrade_required", detail: expect.any(String) });
  });

  test("plain calls go on over its connection", async () => {
    const call = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
    const parts = [call("/__sim/ws"), call("/__sim/health"), call("/__sim/wsx", "Connection: close\r\n")];
    const text = await raw(of(), [parts.join("")], /never/);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 426", "HTTP/1.1 200", "HTTP/1.1 404"]);
  });

  test.each([
    ["another path", "GET /__sim/health", ""],
    ["its own path", "GET /__sim/ws", ""],
    ["another path, after its own", "POST /capture/", "GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a websocket on another path", "GET /__sim/wss", ""],
  ])("an offer of another protocol is passed over: %s", async (name, target, before) => {
    const body = JSON.stringify({ api_key: of().apiKey, event: "h2c", distinct_id: "u" });
    const isPost = target.startsWith("POST");
    const protocol = name.startsWith("a websocket") ? "websocket" : "h2c";
    const head = `${target} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`;
    const request = isPost ? `${head}Content-Length: ${body.length}\r\n\r\n${body}` : `${head}\r\n`;
    const wanted = isPost ? /Ok|"status"/ : /\r\n\r\n./s;
    const text = await raw(of(), before === "" ? [request] : [before, request], wanted);
    const expected = { "GET /__sim/health": 200, "GET /__sim/ws": 426, "GET /__sim/wss": 404 }[target] ?? 200;
    expect(text.match(/HTTP\/1\.1 \d+/g)?.at(-1)).toBe(`HTTP/1.1 ${expected}`);
  });

  test.each([
    ["a rebound name", { headers: { host: "evil.example" } }, "forbidden_host"],
    ["another page", { origin: "https://evil.example" }, "forbidden_origin"],
    ["an opaque origin", { origin: "null" }, "forbidden_origin"],
    ["another port's page", { origin: "http://127.0.0.1:1" }, "forbidden_origin"],
    ["a cross-site fetch", { headers: { "sec-fetch-site": "cross-site" } }, "forbidden_origin"],
  ])("%s is not let in", async (_name, options, code) => {
    const { status, type, body } = await refusalOf(of().url, options);
    expect([status, type]).toEqual([403, "application/json"]);
    expect(body).toMatchObject({ code, detail: expect.any(String), hint: expect.any(String) });
  });

  test("its own page is let in", async () => {
    await using page = await openPage(of().url, { origin: of().url });
    expect(page.frames[0]).toMatchObject({ t: "hello", v: 1, stat: { pages: 1 } });
  });

  test("a page that is loaded again and again leaves nothing behind", async () => {
    for (let k = 0; k < 40; k++) {
      const page = await openPage(of().url, { isSilent: k % 3 === 0 });
      if (k % 3 === 1) await page.subscribe();
      const ended = page.closed;
      if (k % 2 === 0) page.socket.terminate();
      else page.socket.close(1001);
      expect((await ended)[0]).not.toBe(4430);
    }
  });

  test("a handshake without a key is answered in words", async () => {
    const text = await raw(
      of(),
      ["GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
      /never/,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_input"/s);
  });
});

describe("through the sim's own proxy", () => {
  const host = () => new URL(sim.url).host;

  test("absolute-form", async () => {
    const text = await raw(sim, [`GET http://${host()}/__sim/ws HTTP/1.1\r\nHost: ${host()}\r\n${handshake}`], /}$/);
    expect(text).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden_host"/s);
  });

  test("absolute-form on a connection that began directly", async () => {
    const first = "GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const second = `GET http://${host()}/__sim/ws HTTP/1.1\r\nHost: ${host()}\r\n${handshake}`;
    const text = await raw(sim, [first, second], /forbidden_host.*}$/s);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 426", "HTTP/1.1 403"]);
  });

  test("a tunnel", async () => {
    const tunnel = `CONNECT ${host()} HTTP/1.1\r\nHost: ${host()}\r\n\r\n`;
    const inside = `GET /__sim/ws HTTP/1.1\r\nHost: ${host()}\r\n${handshake}`;
    const text = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(sim.url);
      const socket = connect(Number(port), hostname, () => socket.write(tunnel));
      let all = "";
      socket.on("error", reject).on("data", (chunk) => {
        if (all === "") socket.write(inside);
        all += chunk;
        if (!/"code"[^}]*}/.test(all)) return;
        socket.destroy();
        resolve(all);
      });
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 403 .*"code":"forbidden_host"/s);
  });

  test("a real host's name", async () => {
    const target = "http://us.i.posthog.com/__sim/ws";
    const text = await raw(sim, [`GET ${target} HTTP/1.1\r\nHost: us.i.posthog.com\r\n${handshake}`], /}$/);
    expect(text).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden_host"/s);
  });
});

describe("when the sim closes", () => {
  test("pages are reported, and nothing is waited for", async () => {
    const own = await startSim();
    await using page = await openPage(own.url);
    await using idle = await openPage(own.url, { isSilent: true });
    const kept = connect(Number(new URL(own.url).port), "127.0.0.1");
    await new Promise((resolve) => {
      kept.once("data", resolve).write("GET /__sim/ws HTTP/1.1\r\nHost: localhost\r\n\r\n");
    });
    const keptIsClosed = new Promise((resolve) => kept.once("close", resolve));
    await own.close();
    expect((await page.closed)[0]).toBe(1001);
    expect((await idle.closed)[0]).toBe(1001);
    await keptIsClosed;
  });
});

test("bound wider than loopback, hello needs the token", async () => {
  await using wide = await startSim({ host: "0.0.0.0" });
  await using without = await openPage(wide.url, { isSilent: true });
  without.say({ t: "hello", v: 1 });
  expect(await without.closed).toEqual([4401, expect.stringContaining("token")]);
  await using wrong = await openPage(wide.url, { isSilent: true });
  wrong.say({ t: "hello", v: 1, token: "x" });
  expect((await wrong.closed)[0]).toBe(4401);
  await using page = await openPage(wide.url, { token: wide.controlToken ?? "" });
  expect(page.frames[0]?.t).toBe("hello");
});
