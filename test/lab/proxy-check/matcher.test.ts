import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Project, type Sim, startSim } from "../../../src/index.ts";
import { simMatchers } from "../../../src/testing/matchers/matchers.ts";
import { nodeProxy, type RunningProxy } from "./node-proxy.ts";

expect.extend(simMatchers);

let sim: Sim;
let ph: Project;
const open: RunningProxy[] = [];

beforeEach(async () => {
  sim = await startSim();
  ph = await sim.project();
});
afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.close();
  await sim.close();
});

describe("toPassThroughProxy", () => {
  test("a sound proxy passes, for a project and for a sim; the project stays empty", async () => {
    const sound = await nodeProxy(sim.url);
    open.push(sound);
    const { url } = sound;
    await expect(ph).toPassThroughProxy(url);
    await expect(sim).toPassThroughProxy(url, { timeoutMs: 2_000 });
    await expect(ph).toHaveNoUnmatchedRequests();
    await expect(ph).toHaveCapturedOnly([]);
    expect(await sim.requests.list()).toEqual([]);
  });

  test("a broken one fails with what differs and the fix", async () => {
    const broken = await nodeProxy(sim.url, {
      passes(request) {
        request.body = Buffer.from(request.body.toString());
      },
    });
    open.push(broken);
    await expect(ph).not.toPassThroughProxy(broken.url);
    const error: unknown = await expect(ph)
      .toPassThroughProxy(broken.url)
      .catch((it: unknown) => it);
    expect(String(error)).toMatch(/body_text: the body arrives damaged.*at gzip, .*fix: pass the request's bytes on/s);
    expect(error).toMatchObject({ report: { hints: [expect.stringContaining("pass the request's bytes on")] } });
  });

  test("mistakes in the call", async () => {
    await expect(expect(ph).toPassThroughProxy("https://us.i.posthog.com")).rejects.toThrow(/real service/);
    await expect(expect(ph).toPassThroughProxy("http://127.0.0.1:1", { timeoutMS: 1 } as never)).rejects.toThrow(
      /unknown option "timeoutMS"/,
    );
  });
});
