import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: { code?: string; detail?: string };
}

/** fetch refuses to send a foreign Host, so these go out through node:http. */
const send = (to: Sim, method: string, path: string, headers: Record<string, string>, body = ""): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(to.url);
    const req = request({ hostname, port, method, path, headers }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          body: text.startsWith("{") ? JSON.parse(text) : {},
        }),
      );
    });
    req.on("error", reject).end(body);
  });

const own = () => new URL(sim.url).host;

describe("the control API answers", () => {
  const rows: [name: string, method: string, headers: () => Record<string, string>, body: string, status: number][] = [
    ["a plain call", "GET", () => ({}), "", 200],
    ["localhost", "GET", () => ({ host: "localhost:1" }), "", 200],
    ["its own page", "GET", () => ({ origin: sim.url, "sec-fetch-site": "same-origin" }), "", 200],
    ["a rebound name", "GET", () => ({ host: "evil.example" }), "", 403],
    ["another page", "GET", () => ({ origin: "https://evil.example" }), "", 403],
    ["an opaque origin", "GET", () => ({ origin: "null" }), "", 403],
    ["another port's page", "GET", () => ({ origin: "http://127.0.0.1:1" }), "", 403],
    ["a cross-site fetch without origin", "GET", () => ({ "sec-fetch-site": "cross-site" }), "", 403],
  ];
  test.each(rows)("%s", async (_, method, headers, body, status) => {
    const answer = await send(sim, method, "/__sim/info", headers(), body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  });

  const hosts: [host: string, status: number][] = [
    ["127.0.0.1", 200],
    ["127.0.0.1:1", 200],
    ["127.9.9.9:80", 200],
    ["localhost", 200],
    ["LocalHost:80", 200],
    ["[::1]", 200],
    ["[::1]:7490", 200],
    ["127.0.0.1.evil.example", 403],
    ["127.0.0.1.evil.example:80", 403],
    ["127.evil.example", 403],
    ["127.0.0.1:80.evil.example", 403],
    ["localhost.evil.example", 403],
    ["notlocalhost", 403],
    ["10.0.0.127", 403],
    ["128.0.0.1", 403],
    ["[::2]", 403],
    ["[fe80::1]:80", 403],
    ["evil.example:127", 403],
  ];
  test.each(hosts)("to Host %s: %i", async (host, status) => {
    for (const path of ["/__sim/info", "/__sim/app.css"]) {
      const answer = await send(sim, "GET", path, { host });
      expect([path, answer.status]).toEqual([path, status]);
      if (status === 403) expect(answer.body.code).toBe("forbidden_host");
    }
  });

  const evil = "https://evil.example";
  const origins: [name: string, headers: () => Record<string, string>, api: number, page: number][] = [
    ["an own https origin, as behind TLS", () => ({ origin: `https://${own()}` }), 200, 200],
    ["an address typed in", () => ({ "sec-fetch-site": "none" }), 200, 200],
    ["another port's page of this host", () => ({ "sec-fetch-site": "same-site" }), 403, 403],
    ["an own origin from elsewhere", () => ({ origin: sim.url, "sec-fetch-site": "cross-site" }), 403, 403],
    ["another origin that claims to be own", () => ({ origin: evil, "sec-fetch-site": "none" }), 403, 403],
    ["a link in a tab", () => ({ ...visit, "sec-fetch-dest": "document" }), 403, 200],
    ["a link in a frame", () => ({ ...visit, "sec-fetch-dest": "iframe" }), 403, 403],
    ["a document by fetch", () => ({ ...visit, "sec-fetch-mode": "cors", "sec-fetch-dest": "document" }), 403, 403],
  ];
  const visit = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  test.each(origins)("%s", async (_, headers, api, page) => {
    const answers = [];
    for (const path of ["/__sim/info", "/__sim/app.css"]) answers.push(await send(sim, "GET", path, headers()));
    expect(answers.map(({ status }) => status)).toEqual([api, page]);
    for (const { status, body } of answers) if (status === 403) expect(body.code).toBe("forbidden_origin");
  });

  test.each<[name: string, headers: Record<string, string>, location: string | undefined]>([
    ["a browser", {}, "/__sim/"],
    ["a link in a tab", { ...visit, "sec-fetch-dest": "document" }, "/__sim/"],
    ["a browser with a rebound name", { host: "evil.example" }, undefined],
    ["a link in a frame", { ...visit, "sec-fetch-dest": "iframe" }, undefined],
  ])("%s that asks for / is redirected to the page, or is not", async (_, headers, location) => {
    const answer = await send(sim, "GET", "/", { accept: "text/html", ...headers });
    expect(answer.headers.location).toBe(location);
  });

  const isRead = (method: string): boolean => method === "GET" || method === "HEAD" || method === "OPTIONS";
  const bodies: [method: string, type: string | undefined, body: string, refused: boolean][] = [
    ["POST", "application/json", "{}", false],
    ["POST", "APPLICATION/JSON; charset=utf-8", "{}", false],
    ["POST", undefined, "", false],
    ["POST", "text/plain", "", false],
    ["POST", "text/plain", "{}", true],
    ["POST", "application/x-www-form-urlencoded", "a=b", true],
    ["POST", "multipart/form-data; boundary=b", "--b--", true],
    ["POST", "text/plain; x=application/json", "{}", true],
    ["POST", "application/jsonp", "{}", true],
    ["POST", "application/json/evil", "{}", true],
    ["POST", "application/json-patch", "{}", true],
    ["POST", undefined, "{}", true],
    ["POST", undefined, "1", true],
    ["DELETE", "text/plain", "{}", true],
    ["GET", "text/plain", "{}", false],
    ["HEAD", "text/plain", "{}", false],
    ["OPTIONS", "text/plain", "{}", false],
  ];
  test.each(bodies)("%s with the content type %s and the body %j, refused: %s", async (method, type, body, refused) => {
    const headers = { host: own(), ...(type !== undefined && { "content-type": type }) };
    const length = { "content-length": String(body.length) };
    const path = isRead(method) ? "info" : method === "DELETE" ? "faults" : "settle";
    const answer = await send(sim, method, `/__sim/${path}`, { ...headers, ...length }, body);
    expect(answer.status === 415).toBe(refused);
    if (refused) expect(answer.body.detail).toBe(`the body's content type is "${type ?? ""}"`);
  });

  test("a preflight of another page gets no CORS header", async () => {
    const answer = await send(sim, "OPTIONS", "/__sim/reset", { origin: "https://evil.example" });
    expect(Object.keys(answer.headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  });

  test.each([
    ["GET", "/__sim/health", 200],
    ["GET", "/__sim/info", 200],
    ["GET", "/__sim/events?filter=(", 400],
    ["GET", "/__sim/nowhere", 404],
    ["PATCH", "/__sim/info", 405],
    ["GET", "/__sim/ws", 426],
    ["GET", "/__sim/app.css", 200],
  ])("%s %s is for no other page to embed, and is what it says it is", async (method, path, status) => {
    const { headers, ...answer } = await send(sim, method, path, {});
    expect(answer.status).toBe(status);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  test("health and ready need nothing", async () => {
    expect((await send(sim, "GET", "/__sim/health", { host: "evil.example" })).status).toBe(200);
    expect((await send(sim, "GET", "/__sim/ready", {})).status).toBe(200);
  });
});

test("bound wider than loopback, the control API needs its token, and any Host will do", async () => {
  await using wide = await startSim({ host: "0.0.0.0" });
  const host = "sim.example";
  const info = (headers: Record<string, string>) => send(wide, "GET", "/__sim/info", { host, ...headers });
  const token = wide.controlToken;
  for (const authorization of [`Bearer ${token}`, `bearer ${token}`]) {
    expect((await info({ authorization })).status).toBe(200);
  }
  const split = `${token?.slice(0, 4)}Bearer ${token?.slice(4)}`;
  for (const authorization of [split, "", "Bearer", `Bearer ${token}x`, `Basic ${token}`, `x Bearer ${token}`]) {
    expect((await info({ authorization })).body.code).toBe("control_token_required");
  }
  expect((await info({})).body.code).toBe("control_token_required");
  expect((await send(wide, "GET", "/__sim/app.css", { host })).status).toBe(200);
  const foreign = { authorization: `Bearer ${token}`, origin: "https://evil.example" };
  expect((await info(foreign)).body.code).toBe("forbidden_origin");
});

test("with a public address its page is the own one, and calls without an origin pass", async () => {
  const publicUrl = "https://sim.example";
  await using open = await startSim({ publicUrl });
  const authorization = `Bearer ${open.controlToken}`;
  const statusWith = async (headers: Record<string, string>) =>
    (await send(open, "GET", "/__sim/info", { host: "localhost", authorization, ...headers })).status;
  const answers: Record<string, string>[] = [
    {},
    { origin: publicUrl },
    { origin: open.url },
    { origin: "https://other.example" },
  ];
  expect(await Promise.all(answers.map(statusWith))).toEqual([200, 200, 403, 403]);
});

test("a call without a Host is refused", async () => {
  const socket = connect(Number(new URL(sim.url).port), "127.0.0.1");
  socket.end("GET /__sim/info HTTP/1.0\r\n\r\n");
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.\d 403 /);
  expect(answer).toContain("forbidden_host");
});

test("what came through the proxy is refused, whatever else it carries", async () => {
  for (const path of ["/__sim/info", "/__sim/app.css", "/__sim/badge"]) {
    const { status, body } = await send(sim, "GET", sim.url + path, { host: own() });
    expect([status, body.code]).toEqual([403, "forbidden_host"]);
  }
});

test("calls in process pass: no page can make them", async () => {
  const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  for (const path of ["/__sim/info", "/__sim/app.css", "/__sim/badge"]) {
    expect((await sim.handle(new Request(sim.url + path, { headers }))).status).toBe(200);
  }
});

test("calls of the guarded API and the page are no traffic", async () => {
  const before = (await sim.requests.list()).length;
  for (const path of ["/__sim/info", "/__sim/app.css"]) await send(sim, "GET", path, {});
  expect(await sim.requests.list()).toHaveLength(before);
});
