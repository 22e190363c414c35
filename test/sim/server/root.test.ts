import { request } from "node:http";
import { expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

interface Answer {
  status: number | undefined;
  location: string | undefined;
  body: string;
}

/** By node:http, which sends any Host; `target` may be that of a proxy. */
const get = (headers: Record<string, string>, target = "/", method = "GET") =>
  new Promise<Answer>((resolve, reject) => {
    const { hostname, port } = new URL(sim.url);
    request({ hostname, port, path: target, method, headers }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text) => {
        body += text;
      });
      res.on("end", () => resolve({ status: res.statusCode, location: res.headers.location, body }));
    })
      .on("error", reject)
      .end();
  });

const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const visit = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const service = { status: 200, location: undefined, body: "capture" };

test.each([
  ["typed in", { accept: html, "sec-fetch-site": "none" }],
  ["by a link on another page", { accept: html, "sec-fetch-site": "cross-site", ...visit }],
  ["as localhost", { accept: html, host: "localhost:7490" }],
])("a browser is led to the page: %s", async (_, headers) => {
  expect(await get(headers)).toEqual({ status: 302, location: "/__sim/", body: "" });
});

test.each([
  ["no Accept", {}],
  ["any type", { accept: "*/*" }],
  ["JSON", { accept: "application/json" }],
  ["a foreign Host", { accept: html, host: "evil.example" }],
  ["a fetch of another page", { accept: html, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
])("others are answered as by the service: %s", async (_, headers) => {
  expect(await get(headers)).toEqual(service);
});

test("through the proxy the service answers", async () => {
  const headers = { accept: html, host: "us.i.posthog.com" };
  expect(await get(headers, "http://us.i.posthog.com/")).toEqual(service);
});

test("nothing else leads there", async () => {
  for (const path of ["/_readiness", "/_liveness", "/nowhere"])
    expect((await get({ accept: html }, path)).location).toBeUndefined();
  expect((await get({ accept: html }, "/", "HEAD")).location).toBe("/__sim/");
});
