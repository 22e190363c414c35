import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { nodeProxy, type RunningProxy } from "../lab/proxy-check/node-proxy.ts";

let ph: Sim;
let proxy: RunningProxy;
let textProxy: RunningProxy;
beforeAll(async () => {
  ph = await startSim();
  proxy = await nodeProxy(ph.url);
  textProxy = await nodeProxy(ph.url, {
    passes(request) {
      request.body = Buffer.from(request.body.toString());
    },
  });
});
afterAll(async () => {
  await proxy.close();
  await textProxy.close();
  await ph.close();
});

test("what SDKs send passes through the app's proxy", async () => {
  const { origin } = proxy;
  await expect(ph).toPassThroughProxy(`${origin}/ingest`);
});

test("the report as data", async () => {
  const { origin } = textProxy;
  const { passed, findings } = await ph.proxies.check(`${origin}/ingest`, { framework: "next" });
  expect(passed).toBe(false);
  expect(findings).toMatchObject([
    {
      code: "body_text",
      requests: ["gzip", "gzip-js", "no slash", "batch", "events, v1", "AI events, v1", "recording"],
    },
  ]);
});
