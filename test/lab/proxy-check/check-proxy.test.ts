import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import type { ProxyReport } from "../../../src/lab/proxy-check/client.ts";
import { openSim } from "../../support/sim.ts";
import { type Mistake, nodeProxy, type RunningProxy } from "./node-proxy.ts";

const open: RunningProxy[] = [];

const { sim } = await openSim();
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.close();
});

async function proxy(mistake?: Mistake, upstream = sim.url): Promise<RunningProxy> {
  const made = await nodeProxy(upstream, mistake);
  open.push(made);
  return made;
}

const problems = ({ findings }: ProxyReport): string[] =>
  findings.filter(({ level }) => level === "problem").map(({ code }) => code);
const warnings = ({ findings }: ProxyReport): string[] =>
  findings.filter(({ level }) => level === "warning").map(({ code }) => code);

const redirect = (res: ServerResponse, location: string): boolean =>
  res.writeHead(307, { location }).end().writableEnded;

const isGzip = (body: Buffer) => body[0] === 0x1f && body[1] === 0x8b;

describe("sound", () => {
  const rows: [string, Mistake][] = [
    ["a proxy of bytes", {}],
    [
      "answers compressed again by the proxy",
      {
        returns(answer) {
          if (answer.headers["content-encoding"] === "gzip") return;
          answer.body = gzipSync(answer.body);
          answer.headers["content-encoding"] = "gzip";
        },
      },
    ],
    [
      "without a slash at the end of paths, which the service accepts",
      {
        passes(request) {
          request.target = request.target.replace(/\/(?=\?|$)/, "");
        },
      },
    ],
    [
      "preflights answered by the proxy",
      {
        before(req, res) {
          if (req.method !== "OPTIONS") return false;
          res.writeHead(204, { "access-control-allow-origin": "*" }).end();
          return true;
        },
      },
    ],
  ];
  test.each(rows)("%s", async (_, mistake) => {
    const { url } = await proxy(mistake);
    const report = await sim.proxies.check(url);
    expect({ problems: problems(report), warnings: warnings(report) }).toEqual({ problems: [], warnings: [] });
    expect(report).toMatchObject({ url, sim: sim.url, passed: true, not_sent: [] });
    expect(report.requests.length).toBeGreaterThan(14);
  });
});

describe("broken", () => {
  const html =
    (status: number, location?: string): Mistake["instead"] & object =>
    () => ({
      status,
      headers: { "content-type": "text/html", ...(location && { location }) },
      body: Buffer.from("<html></html>"),
    });
  let first: Buffer | undefined;
  const rows: [code: string, Mistake][] = [
    [
      "redirect_slash",
      {
        before(req, res) {
          const [path = "", query] = (req.url ?? "").split("?");
          if (!path.endsWith("/") || path === "/") return false;
          res.writeHead(308, { location: path.slice(0, -1) + (query === undefined ? "" : `?${query}`) }).end();
          return true;
        },
      },
    ],
    ["redirected", { before: (req, res) => redirect(res, `/en${req.url}`) }],
    ["redirect_loop", { before: (req, res) => redirect(res, req.url ?? "") }],
    ["login", { before: (_, res) => redirect(res, "/login?next=x") }],
    ["login", { instead: html(401) }],
    ["not_passed_on", { instead: html(404) }],
    ["not_passed_on", { instead: html(200) }],
    ["swallowed", { instead: () => ({ status: 200, headers: {}, body: Buffer.from("ok") }) }],
    [
      "prefix_kept",
      {
        passes: (it) => {
          it.target = `/ingest${it.target}`;
        },
      },
    ],
    [
      "path_changed",
      {
        passes: (it) => {
          it.target = `/v2${it.target}`;
        },
      },
    ],
    [
      "authorization_lost",
      {
        passes: (it) => {
          delete it.headers.authorization;
        },
      },
    ],
    [
      "authorization_replaced",
      {
        passes: (it) => {
          it.headers.authorization = "Basic dXBzdHJlYW06bG9naW4=";
        },
      },
    ],
    [
      "query_lost",
      {
        passes: (it) => {
          it.target = it.target.split("?")[0] ?? "";
        },
      },
    ],
    [
      "query_changed",
      {
        passes: (it) => {
          it.target += it.target.includes("?") ? "&path=e" : "?path=e";
        },
      },
    ],
    [
      "method_changed",
      {
        passes: (it) => {
          it.method = it.method === "POST" ? "PUT" : it.method;
        },
      },
    ],
    [
      "body_text",
      {
        passes: (it) => {
          it.body = Buffer.from(it.body.toString("utf8"));
        },
      },
    ],
    [
      "body_text",
      {
        passes: (it) => {
          it.body = Buffer.from(it.body.toString("latin1"), "utf8");
        },
      },
    ],
    [
      "body_decompressed",
      {
        passes(it) {
          if (!isGzip(it.body)) return;
          it.body = gunzipSync(it.body);
          delete it.headers["content-encoding"];
        },
      },
    ],
    [
      "body_decompressed",
      {
        passes(it) {
          if (!it.target.includes("/i/v1/") || !isGzip(it.body)) return;
          it.body = gunzipSync(it.body);
          delete it.headers["content-encoding"];
        },
      },
    ],
    [
      "body_missing",
      {
        passes: (it) => {
          it.body = Buffer.alloc(0);
        },
      },
    ],
    [
      "body_missing",
      {
        passes: (it) => {
          it.body = it.method === "POST" ? Buffer.from("{}") : it.body;
        },
      },
    ],
    [
      "body_truncated",
      {
        passes: (it) => {
          it.body = it.body.subarray(0, 1_000_000);
        },
      },
    ],
    [
      "body_reencoded",
      {
        passes: (it) => {
          it.body = Buffer.from(it.body.toString("base64"));
        },
      },
    ],
    [
      "body_reencoded",
      {
        passes(it) {
          if (it.headers["content-type"] === "application/json" && !isGzip(it.body))
            it.body = Buffer.from(JSON.stringify(JSON.parse(it.body.toString()), null, 1));
        },
      },
    ],
    [
      "body_changed",
      {
        passes: (it) => {
          it.body = Buffer.from(it.body).reverse();
        },
      },
    ],
    ["body_too_large", { instead: ({ body }) => (body.length > 1_000_000 ? html(413)({} as never) : undefined) }],
    [
      "body_too_large",
      {
        before(req) {
          if (Number(req.headers["content-length"]) < 1_000_000 || req.method !== "POST") return false;
          if (req.headers["transfer-encoding"]) return false;
          req.destroy();
          return true;
        },
      },
    ],
    [
      // the beginning has arrived when the limit is reached
      "body_too_large",
      {
        passes: (it) => {
          it.body = it.body.subarray(0, 1_000_000);
        },
        returns: (it, { body }) => {
          if (body.length === 1_000_000) it.status = 413;
        },
      },
    ],
    [
      "content_type",
      {
        passes: (it) => {
          if (it.body.length > 0) it.headers["content-type"] = "application/octet-stream";
        },
      },
    ],
    ["content_encoding", { passes: (it) => void delete it.headers["content-encoding"] }],
    ["duplicated", { times: 2 }],
    [
      "status_changed",
      {
        returns: (it, { method }) => {
          if (method === "POST") it.status = 202;
        },
      },
    ],
    [
      "answer_cached",
      {
        returns(it, { target }) {
          if (!target.startsWith("/flags")) return;
          first ??= it.body;
          it.body = first;
        },
      },
    ],
    ["answer_replaced", { returns: (it) => void Object.assign(it, html(200)({} as never)) }],
    [
      "answer_changed",
      {
        returns: (it) => {
          if (it.headers["content-encoding"] === undefined) it.body = Buffer.concat([it.body, Buffer.from("\n")]);
        },
      },
    ],
    [
      "answer_encoding",
      {
        returns: (it) => {
          if (it.headers["content-encoding"] === "gzip") it.body = gunzipSync(it.body);
        },
      },
    ],
    ["answer_encoding", { returns: (it) => void delete it.headers["content-encoding"] }],
    [
      "answer_type",
      {
        returns: (it) => {
          it.headers["content-type"] = "text/plain";
        },
      },
    ],
    ["connection_cut", { before: ({ socket }) => socket.destroy().destroyed }],
  ];
  test.each(rows)("%s (%#)", async (code, mistake) => {
    first = undefined;
    const { url } = await proxy(mistake);
    const report = await sim.proxies.check(url, { timeoutMs: 3_000 });
    expect(problems(report)).toEqual([code]);
    expect(report.passed).toBe(false);
    expect(report.findings[0]?.fix).toMatch(/\w/);
  });

  test("host_kept", async () => {
    const made = await nodeProxy(sim.url, {
      passes: (it) => {
        it.headers.host = new URL(made.origin).host;
      },
    });
    open.push(made);
    expect(problems(await sim.proxies.check(made.url))).toEqual(["host_kept"]);
  });
});

describe("warnings", () => {
  const rows: [code: string, Mistake][] = [
    ["client_address_lost", { passes: (it) => void delete it.headers["x-forwarded-for"] }],
    ["cors", { before: (req, res) => req.method === "OPTIONS" && res.writeHead(404).end().writableEnded }],
  ];
  test.each(rows)("%s", async (code, mistake) => {
    const { url } = await proxy(mistake);
    const report = await sim.proxies.check(url);
    expect({ problems: problems(report), warnings: warnings(report) }).toEqual({ problems: [], warnings: [code] });
    expect(report.passed).toBe(true);
  });

  test("with an origin CORS is a problem", async () => {
    const { url } = await proxy(rows[1]?.[1]);
    const report = await sim.proxies.check(url, { origin: "http://shop.example" });
    expect(problems(report)).toEqual(["cors"]);
  });
});

describe("the upstream", () => {
  test("another sim: no event is sent to it", async () => {
    await using other = await startSim();
    const { url } = await proxy({}, other.url);
    const report = await sim.proxies.check(url);
    expect(problems(report)).toEqual(["other_sim"]);
    expect((await other.requests.list()).filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("the real service: no event is sent to it", async () => {
    const methods: string[] = [];
    const service = createServer((req, res) => {
      methods.push(req.method ?? "");
      const body = '{"type":"authentication_error","code":"invalid_api_key","detail":"Project API key invalid"}';
      res.writeHead(401, { "content-type": "application/json", "x-envoy-upstream-service-time": "3" }).end(body);
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const { url } = await proxy({}, `http://127.0.0.1:${(service.address() as AddressInfo).port}`);
    const report = await sim.proxies.check(url);
    service.closeAllConnections();
    service.close();
    expect(problems(report)).toEqual(["real_service"]);
    expect(report.findings[0]?.fix).toContain(sim.url);
    expect(methods).not.toContain("POST");
    expect(report.not_sent).toContain("recording");
  });

  test("nothing behind the proxy", async () => {
    const { url } = await proxy({}, "http://127.0.0.1:1");
    expect(problems(await sim.proxies.check(url))).toEqual(["upstream_fails"]);
  });

  test("no proxy at all", async () => {
    const report = await sim.proxies.check("http://127.0.0.1:1/ingest");
    expect(problems(report)).toEqual(["unreachable"]);
    expect(report.requests).toHaveLength(1);
  });

  test("a proxy that never answers ends the check after the first request", async () => {
    const { url } = await proxy({ before: () => true });
    const report = await sim.proxies.check(url, { timeoutMs: 150 });
    expect(problems(report)).toEqual(["timeout"]);
    expect(report.requests).toHaveLength(1);
  });
});

test("nothing of a check is kept, and the sim answers other requests meanwhile", async () => {
  await using own = await startSim();
  const before = await own.info();
  const bad = await nodeProxy(own.url, {
    passes: (it) => {
      it.target = `/ingest${it.target}`;
    },
  });
  const good = await nodeProxy(own.url);
  open.push(bad, good);
  const [, , captured] = await Promise.all([
    own.proxies.check(bad.url),
    own.proxies.check(good.url),
    fetch(`${own.url}/e/`, {
      method: "POST",
      body: JSON.stringify({ api_key: own.apiKey, event: "mine", distinct_id: "u" }),
    }),
  ]);
  expect(captured.status).toBe(200);
  expect((await own.events.list()).map(({ event }) => event)).toEqual(["mine"]);
  expect(await own.requests.list()).toHaveLength(1);
  expect(await own.requests.unmatched()).toEqual([]);
  expect((await own.info()).projects).toEqual(before.projects);
});

describe("mistakes", () => {
  const rows: [url: string, said: RegExp][] = [
    ["", /not an http address/],
    ["ftp://127.0.0.1/ingest", /not an http address/],
    ["https://us.i.posthog.com", /names the real service \(us\.i\.posthog\.com\): phx-sim sends nothing there/],
    ["http://user:secret@127.0.0.1:1/ingest", /no user, query or fragment/],
    ["http://127.0.0.1:1/ingest?x=1", /no user, query or fragment/],
    ["http://169.254.169.254/latest", /link-local address, where clouds keep their credentials/],
    ["http://0xa9fea9fe/", /link-local address/],
    ["http://[::ffff:169.254.169.254]/", /link-local address/],
    ["http://[64:ff9b::a9fe:a9fe]/", /link-local address/],
    ["http://[fe80::1]/", /link-local address/],
    ["http://168.63.129.16/", /a cloud's metadata/],
    ["http://[fd00:ec2::254]/", /a cloud's metadata/],
  ];
  test.each(rows)("%j", async (url, said) => {
    await expect(sim.proxies.check(url)).rejects.toThrow(said);
  });

  test("the sim's own address", async () => {
    await expect(sim.proxies.check(sim.url)).rejects.toThrow(/the sim itself/);
  });

  test("an origin with a path, and an unknown option", async () => {
    await expect(sim.proxies.check("http://127.0.0.1:1", { origin: "http://a/b" })).rejects.toThrow(/origin/);
    await expect(sim.proxies.check("http://127.0.0.1:1", { timeoutMS: 1 } as never)).rejects.toThrow(/timeoutMs/);
  });
});
