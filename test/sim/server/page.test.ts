import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectSim, type Sim, startSim } from "../../../src/index.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Whatever host, through whatever proxy: fetch would not send these. */
const get = (to: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to);
    request({ hostname, port, path, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
      );
    })
      .on("error", reject)
      .end();
  });

const files: [path: string, type: string][] = [
  ["/__sim", "text/html; charset=utf-8"],
  ["/__sim/", "text/html; charset=utf-8"],
  ["/__sim/app.js", "text/javascript; charset=utf-8"],
  ["/__sim/app.css", "text/css; charset=utf-8"],
];

const built = join(import.meta.dirname, "../../../dist/inspector");

describe("the page's files", () => {
  test.each(files)("%s comes as %s, with the headers that keep it alone", async (path, type) => {
    const { status, headers, body } = await get(sim.url, path);
    expect(status).toBe(200);
    expect(body.length).toBeGreaterThan(10);
    expect(headers).toMatchObject({
      "content-type": type,
      "content-security-policy": [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join("; "),
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
    expect(Object.keys(headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  });

  test("recorded pages are shown in a frame that connects to nothing, and that only the page embeds", async () => {
    const { status, headers, body } = await get(sim.url, "/__sim/player");
    expect(status).toBe(200);
    expect(body).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
    expect(headers["content-security-policy"]).toBe(
      [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ].join("; "),
    );
    expect((await get(sim.url, "/__sim/player.js")).headers["content-type"]).toContain("text/javascript");
  });

  test.each(files)("%s is not sent again to who has it", async (path) => {
    const { etag } = (await get(sim.url, path)).headers;
    const again = await get(sim.url, path, { "if-none-match": String(etag) });
    expect([again.status, again.body, again.headers.etag]).toEqual([304, "", etag]);
    expect(again.headers["content-security-policy"]).toContain("default-src 'none'");
    expect((await get(sim.url, path, { "if-none-match": '"another"' })).status).toBe(200);
  });

  test("there are no others", async () => {
    const paths = ["/__sim/index.html", "/__sim/app.js.map", "/__sim/../package.json", "/__sim/%2e%2e/package.json"];
    for (const path of paths) expect((await get(sim.url, path)).status).toBe(404);
  });

  test("the markup has nothing inline and nothing from elsewhere", () => {
    const html = readFileSync(join(built, "index.html"), "utf8");
    expect(html).not.toMatch(/<style|style=|\son\w+=|https?:\/\/(?!www\.w3\.org)/);
    expect([...html.matchAll(/<script\b([^>]*)>([^<]*)</g)].map(([, how, code]) => [how, code])).toEqual([
      [' type="module" src="/__sim/app.js"', ""],
    ]);
  });

  const zipped = (file: string): number => gzipSync(readFileSync(join(built, file)), { level: 9 }).length;

  /** A file and all that it must have before it runs. */
  function needs(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    const code = readFileSync(join(built, file), "utf8");
    for (const [, to = ""] of code.matchAll(/(?:\bfrom|\bimport)"(\.[^"]+)"/g))
      needs(join(file, "..", to).replaceAll("\\", "/"), seen);
    return seen;
  }

  const parts = readdirSync(join(built, "app"));
  const sheets = readdirSync(join(built, "styles"));
  /** The style sheet of a view has the name of its code, without the hash. */
  const stylesOf = (part: string): string[] =>
    sheets.filter((it) => part.startsWith(`${it.slice(0, -4)}-`)).map((it) => `styles/${it}`);

  test.each(parts)("a visit that needs %s is small", (part) => {
    const visited = ["index.html", "app.css", ...stylesOf(part), ...needs("app.js", needs(`app/${part}`))];
    expect(visited).toContain("app.js");
    expect(visited.map(zipped).reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(60_000);
  });

  test("the parts of the code are served, and nothing else beside them", async () => {
    for (const part of parts) {
      const { status, body } = await get(sim.url, `/__sim/app/${part}`);
      expect([part, status, body === readFileSync(join(built, "app", part), "utf8")]).toEqual([part, 200, true]);
    }
    for (const name of ["nobody.js", "..%2findex.html", "%2e%2e", "..%2F..%2Fcli%2Fmain.js", "__proto__", "x.css"]) {
      const { status, body } = await get(sim.url, `/__sim/app/${name}`);
      expect([name, status, JSON.parse(body).code]).toEqual([name, 404, "not_found"]);
    }
  });
});

describe("who gets the page", () => {
  const visit = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "cross-site" };
  const rows: [who: string, headers: Record<string, string>, status: number][] = [
    ["someone who types the address", { "sec-fetch-site": "none", "sec-fetch-mode": "navigate" }, 200],
    ["someone who follows a link of another page", visit, 200],
    ["a rebound name", { host: "evil.example" }, 403],
    ["a rebound name that is visited", { ...visit, host: "evil.example" }, 403],
    ["a frame in another page", { ...visit, "sec-fetch-dest": "iframe" }, 403],
    ["an img of another page", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    ["a fetch of another page", { origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" }, 403],
  ];
  test.each(rows)("%s: %#", async (_, headers, status) => {
    for (const [path] of files) expect((await get(sim.url, path, headers)).status).toBe(status);
  });

  test("no one through our own proxy", async () => {
    const { host } = new URL(sim.url);
    for (const target of [`${sim.url}/__sim/`, `${sim.url}/__sim/app.js`, `http://us.i.posthog.com/__sim/`]) {
      const { status, body } = await get(sim.url, target, { host });
      expect([status, JSON.parse(body).code]).toEqual([403, expect.stringMatching(/^(forbidden_host|proxy_\w+)$/)]);
    }
  });
});

describe("bound wider than loopback", () => {
  let wide: Sim;
  beforeAll(async () => {
    wide = await startSim({ host: "0.0.0.0" });
  });
  afterAll(() => wide.close());

  test.each(files)("%s needs no token, as it holds no data", async (path) => {
    expect((await get(wide.url, path, { host: "my-machine.local:7490" })).status).toBe(200);
  });

  test.each(["info", "events", "requests", "requests.har", "persons", "flags", "faults", "openapi.json"])(
    "%s needs it",
    async (path) => {
      const refused = await get(wide.url, `/__sim/${path}`);
      expect([refused.status, JSON.parse(refused.body).code]).toEqual([401, "control_token_required"]);
      const authorization = `Bearer ${wide.controlToken}`;
      expect((await get(wide.url, `/__sim/${path}`, { authorization })).status).toBe(200);
    },
  );

  test("the inspector's link carries the token in the part that servers do not see", async () => {
    const link = `${wide.url}/__sim/#t=${wide.controlToken}`;
    expect(wide.controlToken).toMatch(/^[0-9a-f]{32}$/);
    expect(wide.inspectorUrl).toBe(link);
    expect((await wide.info()).inspector_url).toBe(link);
    await using client = await connectSim(wide.url, { token: wide.controlToken ?? "" });
    expect(client.inspectorUrl).toBe(link);
  });

  test("a sim of this machine only has no token in its link", () => {
    expect(sim.inspectorUrl).toBe(`${sim.url}/__sim/`);
  });
});
