import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: { code?: string };
}

/** fetch refuses to send a foreign Host, so these go out through node:http. */
const send = (
  to: Sim,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<Answer> =>
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
  const rows: [
    name: string,
    method: string,
    headers: () => Record<string, string>,
    body: string,
    status: number,
  ][] = [
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

  test("a form post is not a control call", async () => {
    const headers = { host: own(), "content-type": "application/x-www-form-urlencoded" };
    const answer = await send(sim, "POST", "/__sim/reset", headers, "a=b");
    expect([answer.status, answer.body.code]).toEqual([415, "unsupported_media_type"]);
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

test("bound wider than loopback, the control API needs its token", async () => {
  await using wide = await startSim({ host: "0.0.0.0" });
  expect((await send(wide, "GET", "/__sim/info", {})).body.code).toBe("control_token_required");
  const authorization = `Bearer ${wide.controlToken}`;
  expect((await send(wide, "GET", "/__sim/info", { authorization })).status).toBe(200);
});
