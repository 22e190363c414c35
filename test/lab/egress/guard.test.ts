import { once } from "node:events";
import { createServer, Agent as HttpAgent, get as httpGet, request as httpRequest } from "node:http";
import { connect as http2Connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import {
  type AddressInfo,
  type LookupFunction,
  connect as netConnect,
  type Socket,
  Socket as SocketClass,
} from "node:net";
import { Duplex } from "node:stream";
import { connect as tlsConnect } from "node:tls";
import { PostHog } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EgressError, startSim } from "../../../src/index.ts";
import type { Guard, GuardOptions } from "../../../src/lab/egress/blocked-call.ts";
import { guardProcess } from "../../../src/lab/egress/guard.ts";

const simUrl = "http://127.0.0.1:7490";
let open: Guard[] = [];
const guard = (options: GuardOptions = {}): Guard => {
  const made = guardProcess({ url: simUrl, ...options });
  open.push(made);
  return made;
};
afterEach(() => {
  vi.restoreAllMocks();
  for (const it of open) it.close();
  open = [];
});

test("an environment without fetch gets none by the guard", () => {
  vi.stubGlobal("fetch", undefined);
  guard();
  expect(globalThis.fetch).toBeUndefined();
  vi.unstubAllGlobals();
});

/** What an emitter fails with; connecting instead is an answer, too. */
async function failureOf(emitter: NodeJS.EventEmitter, good: string): Promise<unknown> {
  return Promise.race([once(emitter, good).then(() => `${good}!`), once(emitter, "error").catch((it) => it)]).then(
    (it) => (Array.isArray(it) ? it[0] : it),
    (error) => error,
  );
}
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "answered!",
    (it) => it,
  );
const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? error.cause : error;

const sent = (request: ReturnType<typeof httpRequest>, body?: string) => {
  request.end(body);
  return failureOf(request, "response");
};

const host = "us.i.posthog.com";
const bare = (port: number) => ({ method: null, url: `${host}:${port}`, host });
const clients: [name: string, call: () => Promise<unknown>, expected: object][] = [
  [
    "fetch",
    () => caught(fetch(`https://${host}/batch/`, { method: "post", body: "{}" })),
    { method: "POST", url: `https://${host}/batch/`, host },
  ],
  [
    "fetch of a Request",
    () => caught(fetch(new Request(`https://${host}/e/?ip=0`, { method: "PUT", body: "x" }))),
    { method: "PUT", url: `https://${host}/e/?ip=0`, host },
  ],
  [
    "fetch with a stream",
    () =>
      caught(
        fetch(new URL(`https://${host}/s/`), {
          method: "POST",
          body: new Blob(["x"]).stream(),
          duplex: "half",
        } as RequestInit),
      ),
    { method: "POST", url: `https://${host}/s/`, host },
  ],
  [
    "http.request",
    () => sent(httpRequest(`http://${host}/x`, { method: "POST" }), "x"),
    { method: "POST", url: `http://${host}/x`, host },
  ],
  [
    "http.get",
    () => failureOf(httpGet({ host, path: "/y?z=1" }), "response"),
    { method: "GET", url: `http://${host}/y?z=1`, host },
  ],
  [
    "https.request with an agent of its own",
    () => sent(httpsRequest({ hostname: host, port: 8443, path: "/flags/?v=2", method: "POST", agent: false }), "x"),
    { method: "POST", url: `https://${host}:8443/flags/?v=2`, host },
  ],
  [
    "a request to an address that was looked up before",
    () => sent(httpRequest({ host: "192.0.2.1", path: "/e/", headers: { host } })),
    { method: "GET", url: `http://${host}/e/`, host },
  ],
  ["net.connect with options", () => failureOf(netConnect({ host, port: 443 }), "connect"), bare(443)],
  ["net.connect with port and host", () => failureOf(netConnect(80, host), "connect"), bare(80)],
  [
    "connect of a socket",
    () => failureOf(new SocketClass().connect({ host: `${host}.`, port: 80 }), "connect"),
    bare(80),
  ],
  ["tls.connect", () => failureOf(tlsConnect({ host, port: 443 }), "secureConnect"), bare(443)],
  [
    "tls.connect to an address that was looked up before",
    () => failureOf(tlsConnect({ host: "192.0.2.1", port: 443, servername: host }), "secureConnect"),
    bare(443),
  ],
  ["http2", () => failureOf(http2Connect(`https://${host}`), "connect"), bare(443)],
  ["http2 without TLS", () => failureOf(http2Connect(`http://${host}:81`), "connect"), bare(81)],
];

describe("blocks, names and records", () => {
  test.each(clients)("%s", async (_name, call, expected) => {
    const it = guard();
    const error = causeOf(await call());
    expect(error).toBeInstanceOf(EgressError);
    expect(it.calls()).toEqual([
      { ...expected, at: expect.stringMatching(/^\d{4}-.*Z$/), stack: expect.stringContaining("guard.test.ts") },
    ]);
    expect(error).toMatchObject({ calls: it.calls() });
  });
});

test("the error says what was called, from where, and what to do", async () => {
  guard();
  const error = causeOf(await caught(fetch(`https://${host}/batch/?token=phx_verysecret`)));
  expect(error).toMatchObject({
    name: "EgressError",
    code: "PHX_EGRESS_BLOCKED",
    message: `blocked: GET https://${host}/batch/?token=phx_*** (phx-sim guard): point the SDK's host at ${simUrl} (POSTHOG_HOST)`,
  });
  const { stack = "" } = error as Error;
  expect(stack.split("\n")[1]).toContain("guard.test.ts");
});

describe("which hosts", () => {
  const reach = async (url: string) => causeOf(await caught(fetch(url))) instanceof EgressError;
  test.each<[string, GuardOptions, url: string]>([
    ["a reverse proxy", { hosts: ["*.shop.test"] }, "https://e.shop.test/e/"],
    ["a path of it", { hosts: ["shop.test/ingest"] }, "https://shop.test/ingest/e/"],
    ["a path of any host", { hosts: ["/ingest"] }, "http://shop.test/ingest/e/"],
    ["every host", { hosts: ["*"] }, "http://192.0.2.1/"],
    ["allowed, but not this part", { allow: ["eu.i.posthog.com"] }, "https://us.i.posthog.com/"],
  ])("%s", async (_what, options, url) => {
    const it = guard(options);
    expect(await reach(url)).toBe(true);
    expect(it.calls().map((call) => call.url)).toEqual([url]);
  });

  test("this machine is never guarded", async () => {
    await using server = await openServer();
    const it = guard({ hosts: ["*", "localhost", "127.0.0.1"] });
    expect(await (await fetch(`http://localhost:${server.port}/a`)).text()).toBe("GET /a");
    expect(await (await fetch(`${server.url}/b`)).text()).toBe("GET /b");
    expect(it.calls()).toEqual([]);
  });

  test("an allowed host is reached", async () => {
    await using server = await openServer();
    const it = guard({ hosts: ["*.shop.test"], allow: ["e.shop.test"] });
    expect(await get(server, "e.shop.test", "/x")).toBe("GET /x");
    expect(await get(server, "f.shop.test", "/x")).toBeInstanceOf(EgressError);
    expect(it.calls().map((call) => call.host)).toEqual(["f.shop.test"]);
  });

  test.each([{ hosts: ["a b"] }, { allow: [""] }])("%j is refused", (options) => {
    expect(() => guard(options)).toThrow(/is not a host/);
  });
});

interface Server extends AsyncDisposable {
  port: number;
  url: string;
  /** First lines of the requests that came, and hosts of the tunnels that were asked for. */
  seen: string[];
}

/** Answers with the first line; what is asked of it as a proxy is noted and refused. */
async function openServer(): Promise<Server> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end(`${request.method} ${request.url}`);
  });
  server.on("connect", (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.end("HTTP/1.1 502 no\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const here = { address: "127.0.0.1", family: 4 };
/** Every name is this machine. */
const lookup = (_name: string, options: { all?: boolean }, tell: (...args: unknown[]) => void) =>
  options.all ? tell(null, [here]) : tell(null, here.address, here.family);

/** The answer's text, or what it failed with. */
function get(server: Server, name: string, path: string, agent?: HttpAgent): Promise<unknown> {
  return new Promise((resolve) => {
    const options = { host: name, port: server.port, path, agent };
    httpGet({ ...options, lookup: lookup as LookupFunction }, async (response) =>
      resolve((await response.toArray()).join("")),
    ).once("error", resolve);
  });
}

describe("ways around the connection", () => {
  let server: Server;
  beforeEach(async () => {
    server = await openServer();
    return () => server[Symbol.asyncDispose]();
  });

  test("a connection that was open before", async () => {
    const agent = new HttpAgent({ keepAlive: true });
    const name = "e.shop.test";
    expect(await get(server, name, "/before", agent)).toBe("GET /before");
    const it = guard({ hosts: [name] });
    expect(await get(server, name, "/during", agent)).toBeInstanceOf(EgressError);
    expect(it.calls()).toMatchObject([
      { method: "GET", url: `http://${name}:${server.port}/during`, stack: expect.stringContaining("guard.test.ts") },
    ]);
    it.close();
    expect(await get(server, name, "/after", agent)).toBe("GET /after");
    expect(server.seen).toEqual(["GET /before", "GET /after"]);
    agent.destroy();
  });

  test.each<[string, object]>([
    ["the whole URL to a proxy", { path: `http://${host}/e/` }],
    ["a tunnel through a proxy", { method: "CONNECT", path: `${host}:443` }],
  ])("%s", async (_what, options) => {
    const it = guard();
    const request = httpRequest({ host: "127.0.0.1", port: server.port, agent: false, ...options });
    expect(await sent(request)).toBeInstanceOf(EgressError);
    expect(it.calls()).toMatchObject([{ host }]);
    expect(server.seen).toEqual([]);
  });

  test("an agent that connects elsewhere", async () => {
    const it = guard();
    const createConnection = () => netConnect(server.port, "127.0.0.1");
    const request = httpRequest({ host, path: "/e/", createConnection });
    expect(await sent(request)).toBeInstanceOf(EgressError);
    expect(it.calls()).toMatchObject([{ method: "GET", url: `http://${host}/e/` }]);
    expect(server.seen).toEqual([]);
  });

  test("a fetch that was kept from before", async () => {
    const early = globalThis.fetch;
    const it = guard();
    await caught(early(`https://${host}/batch/?a=1`, { method: "POST" }));
    expect(it.calls()).toMatchObject([{ method: "POST", url: `https://${host}/batch/?a=1` }]);
  });

  test("a stand-in for a connection, by which another tool answers, is let pass", async () => {
    const it = guard();
    const standIn = () => {
      const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
      stream.push("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nstub");
      return stream;
    };
    expect(await sent(httpRequest({ host, createConnection: standIn }))).toBe("response!");
    expect(it.calls()).toEqual([]);
  });

  test("a redirect", async () => {
    const redirecting = createServer((_request, response) =>
      response.writeHead(307, { location: `https://${host}/e/` }).end(),
    ).listen(0, "127.0.0.1");
    await once(redirecting, "listening");
    const it = guard();
    const error = await caught(fetch(`http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/`));
    expect(causeOf(error)).toBeInstanceOf(EgressError);
    expect(it.calls()).toMatchObject([{ method: "GET", url: `https://${host}/e/` }]);
    redirecting.closeAllConnections();
    redirecting.close();
  });
});

test("twenty calls at once are named one by one", async () => {
  const it = guard();
  const urls = Array.from({ length: 20 }, (_, i) => `https://${host}/e/?n=${i}`);
  await Promise.all(urls.map((url) => caught(fetch(url))));
  expect(
    it
      .calls()
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(urls.toSorted());
});

test("what another tool answers in process is no call", async () => {
  const real = globalThis.fetch;
  globalThis.fetch = async () => new Response("stub");
  try {
    const it = guard();
    expect(await (await fetch(`https://${host}/e/`)).text()).toBe("stub");
    expect(it.calls()).toEqual([]);
    it.close();
  } finally {
    globalThis.fetch = real;
  }
});

test("a fetch that is stubbed over ours survives the guard", async () => {
  const real = globalThis.fetch;
  const it = guard();
  const below = globalThis.fetch;
  const stub: typeof fetch = (...args) => below(...args);
  globalThis.fetch = stub;
  it.close();
  expect(globalThis.fetch).toBe(stub);
  await using server = await openServer();
  expect(await (await fetch(`${server.url}/x`)).text()).toBe("GET /x");
  const second = guard();
  await caught(fetch(`https://${host}/once`));
  expect(second.calls()).toHaveLength(1);
  second.close();
  globalThis.fetch = real;
});

describe("several guards", () => {
  test.each<[string, number[]]>([
    ["in the order of opening", [0, 1]],
    ["the other way round", [1, 0]],
  ])("end %s", async (_what, order) => {
    const before = [SocketClass.prototype.connect, globalThis.fetch, HttpAgent.prototype] as const;
    const guards = [guard({ hosts: ["a.test"] }), guard({ hosts: ["b.test"] })];
    for (const url of ["http://a.test/", "http://b.test/", `http://${host}/`]) await caught(fetch(url));
    expect(guards.map((it) => it.calls().map((call) => call.host))).toEqual([
      ["a.test", host],
      ["b.test", host],
    ]);
    const [first, last] = order.map((i) => guards[i]);
    first?.close();
    await caught(fetch(`http://${host}/again`));
    expect([first?.calls().length, last?.calls().length]).toEqual([2, 3]);
    last?.close();
    last?.close();
    expect([SocketClass.prototype.connect, globalThis.fetch, HttpAgent.prototype]).toEqual(before);
  });

  test("what one allows the other may refuse", async () => {
    const [strict, lenient] = [guard(), guard({ allow: ["*.posthog.com"] })];
    expect(causeOf(await caught(fetch(`https://${host}/`)))).toBeInstanceOf(EgressError);
    expect([strict.calls().length, lenient.calls().length]).toEqual([1, 0]);
  });
});

describe("what is reported", () => {
  test("verify names every call, those of one place together", async () => {
    const it = guard();
    expect(() => it.verify()).not.toThrow();
    for (const path of ["/e/", "/e/", "/flags/"]) await caught(fetch(`https://${host}${path}`, { method: "POST" }));
    await failureOf(netConnect(443, host), "connect");
    expect(() => it.verify()).toThrow(
      new RegExp(
        [
          `^4 calls to guarded hosts were blocked \\(phx-sim guard\\): point the SDK's host at ${simUrl} \\(POSTHOG_HOST\\)`,
          `  POST https://${host}/e/ \\(at .*guard\\.test\\.ts:\\d+:\\d+\\)+ ×2`,
          `  POST https://${host}/flags/ \\(at .*guard\\.test\\.ts:\\d+:\\d+\\)+`,
          `  connection to ${host}:443 \\(at .*guard\\.test\\.ts:\\d+:\\d+\\)+$`,
        ].join("\n"),
      ),
    );
  });

  test("leaving the block throws, once", async () => {
    const block = async (verifyFirst: boolean) => {
      await using it = guard();
      await caught(fetch(`https://${host}/`));
      if (verifyFirst) expect(() => it.verify()).toThrow(EgressError);
    };
    await expect(block(false)).rejects.toThrow(/^1 call to a guarded host was blocked/);
    await expect(block(true)).resolves.toBeUndefined();
    expect(() => {
      using it = guard();
      expect(it.calls()).toEqual([]);
    }).not.toThrow();
  });

  test("calls that were wanted can be forgotten", async () => {
    using it = guard();
    await caught(fetch(`https://${host}/`));
    it.clear();
    expect(it.calls()).toEqual([]);
    expect(() => it.verify()).not.toThrow();
  });

  test("calls that come after those that were forgotten are reported on leaving", async () => {
    const block = async () => {
      await using it = guard();
      await caught(fetch(`https://${host}/before`));
      expect(() => it.verify()).toThrow(EgressError);
      it.clear();
      await caught(fetch(`https://${host}/after`));
    };
    await expect(block()).rejects.toThrow(/^1 call to a guarded host .*\n.*\/after/s);
  });

  test.each(["dispose", "asyncDispose"] as const)("leaving by %s ends the guard", async (way) => {
    await using server = await openServer();
    const before = [SocketClass.prototype.connect, globalThis.fetch] as const;
    const it = guard({ hosts: ["e.shop.test"] });
    expect(SocketClass.prototype.connect).not.toBe(before[0]);
    await it[Symbol[way]]();
    expect([SocketClass.prototype.connect, globalThis.fetch]).toEqual(before);
    expect(await get(server, "e.shop.test", "/x")).toBe("GET /x");
    expect(it.calls()).toEqual([]);
  });

  test("an SDK swallows the errors, the guard does not", async () => {
    vi.spyOn(console, "error").mockReturnValue(undefined);
    const it = guard();
    const client = new PostHog("phc_guarded", { host: `https://${host}`, flushAt: 1, fetchRetryCount: 0 });
    client.capture({ distinctId: "u1", event: "signup" });
    await client.shutdown().catch(() => {});
    expect(it.calls()[0]).toMatchObject({ method: "POST", url: `https://${host}/batch/` });
    expect(() => it.verify()).toThrow(/POST https:\/\/us\.i\.posthog\.com\/batch\//);
  });

  test("no more than a thousand are kept", async () => {
    const it = guard();
    const sockets: Socket[] = Array.from({ length: 1_050 }, () => netConnect(443, host));
    await Promise.all(sockets.map((socket) => failureOf(socket, "connect")));
    expect(it.calls()).toHaveLength(1_000);
  });
});

test("a sim's guard names the sim's address", async () => {
  await using sim = await startSim();
  const it = sim.guard({ hosts: ["e.shop.test"] });
  expect(causeOf(await caught(fetch("https://e.shop.test/")))).toMatchObject({
    message: expect.stringContaining(`point the SDK's host at ${sim.url} `),
  });
  await sim.events.list();
  expect(it.calls()).toHaveLength(1);
  it.close();
});

describe("an SDK", () => {
  test("is answered with 403, which it does not retry", async () => {
    const it = guard();
    const posthog = new PostHog("phc_of_the_real_project");
    posthog.capture({ distinctId: "anna", event: "signed_up" });
    expect(await posthog.getFeatureFlag("new-prices", "anna")).toBeUndefined();
    await posthog.shutdown();
    const paths = it.calls().map(({ url }) => new URL(url).pathname);
    expect(paths.sort()).toEqual(["/batch/", "/flags/"]);
  });

  test("fails where another tool refuses its connection", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new Error("refused by a stub")));
    guard();
    const headers = { "user-agent": "posthog-node/5.70.0" };
    await expect(fetch(`https://${host}/batch/`, { method: "POST", headers })).rejects.toThrow("refused by a stub");
    vi.unstubAllGlobals();
  });
});

describe("a request that looks like an SDK's is guarded, to any host", () => {
  const headers = { "user-agent": "posthog-node/5.70.0" };
  const own = "e.myapp.invalid";

  test.each<[name: string, call: () => Promise<unknown>]>([
    ["fetch, by its agent", () => caught(fetch(`https://${own}/batch/`, { method: "POST", headers }))],
    [
      "fetch, by the key in its body",
      () => caught(fetch(`https://${own}/x/capture/`, { method: "POST", body: '{"api_key":"phc_abcd"}' })),
    ],
    ["fetch of a Request", () => caught(fetch(new Request(`https://${own}/flags/?v=2`, { method: "POST", headers })))],
    ["https.request", () => sent(httpsRequest(`https://${own}/i/v0/e/`, { method: "POST", headers }), "{}")],
    [
      "http.request, by its query",
      () => sent(httpRequest(`http://${own}/e/?ip=0&ver=1.449.2`, { method: "POST" }), "{}"),
    ],
  ])("%s", async (_name, call) => {
    const it = guard();
    await call();
    expect(it.calls()).toMatchObject([{ method: "POST", host: own }]);
  });

  test.each<[name: string, url: string, init: RequestInit, options?: GuardOptions]>([
    ["another path", `https://${own}/orders/`, { method: "POST", headers }],
    ["another client", `https://${own}/batch/`, { method: "POST", body: "{}" }],
    ["a host that is allowed", `https://${own}/batch/`, { method: "POST", headers }, { allow: [own] }],
  ])("not %s", async (_name, url, init, options) => {
    const it = guard(options);
    await caught(fetch(url, init));
    expect(it.calls()).toEqual([]);
  });

  test("not to this machine", async () => {
    await using sim = await startSim();
    const it = guard();
    const body = JSON.stringify({ api_key: sim.apiKey, event: "e", distinct_id: "anna" });
    const answer = await fetch(`${sim.url}/capture/`, { method: "POST", headers, body });
    expect([answer.status, it.calls()]).toEqual([200, []]);
  });
});
