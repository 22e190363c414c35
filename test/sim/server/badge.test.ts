import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { delayAfter, linkFor, placeOf, textsOf } from "../../../ui/badge/badge-texts.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

/** fetch refuses to send a foreign Host, so these go out through node:http. */
const get = async (to: Sim, path: string, headers: Record<string, string> = {}) => {
  const { hostname, port } = new URL(to.url);
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, headers, agent: false }, resolve).on("error", reject).end();
  });
  const body = await text(response);
  const { code } = body.startsWith("{") ? (JSON.parse(body) as { code?: string }) : {};
  return { status: response.statusCode, headers: response.headers, body, code };
};

const post = (to: Sim, path: string, body: unknown) =>
  fetch(`${to.url}${path}`, { method: "POST", body: JSON.stringify(body) });

const counts = async (to: Sim): Promise<unknown> => JSON.parse((await get(to, "/__sim/badge")).body);

test("the badge gets counts and a code, and nothing of any event", async () => {
  await using own = await startSim();
  expect(await counts(own)).toEqual({ kept: 0, dropped: 0, rejected: 0, reason: null });
  const batch = [{ event: "secret name", distinct_id: "secret id" }, { event: "secret name" }];
  await post(own, "/batch/", { api_key: own.apiKey, batch });
  expect(await counts(own)).toEqual({ kept: 1, dropped: 1, rejected: 0, reason: "missing_distinct_id" });
  await post(own, "/i/v0/e/", { api_key: "phc_secret", event: "x", distinct_id: "u" });
  expect(await counts(own)).toMatchObject({ kept: 1, dropped: 1, rejected: 1 });
  const { body } = await get(own, "/__sim/badge");
  expect(body).not.toMatch(/secret/);
  expect((JSON.parse(body) as { reason: string }).reason).toMatch(/^[a-z_]+$/);
  await own.events.clear();
  expect(await counts(own)).toMatchObject({ kept: 0, dropped: 0, rejected: 1 });
});

describe("the counts are", () => {
  test.each(["http://localhost:3000", "http://127.0.0.1:5173", "https://shop.localhost", "http://[::1]:80"])(
    "read by a page of %s",
    async (origin) => {
      const { status, headers } = await get(sim, "/__sim/badge", { origin, "sec-fetch-site": "cross-site" });
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "access-control-allow-origin": origin,
        vary: "origin",
        "cache-control": "no-store",
      });
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    },
  );

  test.each<[name: string, headers: Record<string, string>, code: string]>([
    ["another site", { origin: "https://evil.example" }, "forbidden_origin"],
    ["a name that only looks local", { origin: "http://localhost.evil.example" }, "forbidden_origin"],
    ["a machine in the network", { origin: "http://192.168.1.7:3000" }, "forbidden_origin"],
    ["an opaque origin", { origin: "null" }, "forbidden_origin"],
    ["a page that hides its origin", { "sec-fetch-site": "cross-site" }, "forbidden_origin"],
    ["a rebound name", { host: "evil.example" }, "forbidden_host"],
  ])("refused to %s", async (_, headers, code) => {
    const answer = await get(sim, "/__sim/badge", headers);
    expect([answer.status, answer.code]).toEqual([403, code]);
    expect(Object.keys(answer.headers).filter((it) => it.startsWith("access-control"))).toEqual([]);
  });
});

describe("the script", () => {
  const script = { "sec-fetch-dest": "script", "sec-fetch-mode": "no-cors" };
  test.each<[name: string, headers: Record<string, string>, status: number]>([
    ["a page of this machine", { ...script, referer: "http://localhost:3000/", "sec-fetch-site": "same-site" }, 200],
    ["a page without a referer", { ...script, "sec-fetch-site": "cross-site" }, 200],
    ["a test", {}, 200],
    ["another site", { ...script, referer: "https://evil.example/" }, 403],
    ["another site, with its origin", { ...script, origin: "https://evil.example" }, 403],
    ["a rebound name", { ...script, host: "evil.example" }, 403],
  ])("goes to %s or not", async (_, headers, status) => {
    expect((await get(sim, "/__sim/badge.js", headers)).status).toBe(status);
  });

  test("may be embedded, as nothing else below /__sim, and is small", async () => {
    const { headers } = await get(sim, "/__sim/badge.js");
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    for (const path of ["/__sim/app.js", "/__sim/badge", "/__sim/info"])
      expect((await get(sim, path)).headers["cross-origin-resource-policy"]).toBe("same-origin");
    const built = readFileSync(join(import.meta.dirname, "../../../dist/inspector/badge.js"));
    expect(gzipSync(built).length).toBeLessThan(4_000);
  });
});

test.each<[name: string, options: SimOptions]>([
  ["is open to the network", { host: "0.0.0.0" }],
  ["has a public address", { publicUrl: "https://sim.example" }],
  ["has a token of its own", { token: "0123456789abcdef" }],
])("there is no badge where the sim %s", async (_, options) => {
  await using open = await startSim(options);
  const authorization = `Bearer ${open.controlToken}`;
  for (const path of ["/__sim/badge", "/__sim/badge.js"]) {
    const { status, code } = await get(open, path, { authorization, origin: "http://localhost:3000" });
    expect([path, status, code]).toEqual([path, 401, "control_token_required"]);
  }
});

test("what the sim says is checked: its address may belong to something else by now", () => {
  const odd = { kept: "<b>", dropped: -1, rejected: Number.NaN, reason: "<img src=x>" } as unknown;
  const known = { kept: 1, dropped: 0, rejected: 0, reason: null };
  expect(textsOf(odd as typeof known)).toMatchObject({ sent: "0 events", lost: "", reason: "" });
  expect(textsOf({ kept: 1_203, dropped: 2, rejected: 1, reason: "missing_distinct_id" })).toEqual({
    sent: "1,205 events",
    lost: "2 dropped, 1 rejected",
    reason: "missing_distinct_id",
    title: "1,205 events, 2 dropped, 1 rejected, missing_distinct_id: open the inspector",
  });
  expect(linkFor("http://x", known)).toBe("http://x/__sim/#/events");
  expect(linkFor("http://x", { ...known, rejected: 1 })).toBe("http://x/__sim/#/start");
  expect([placeOf("top-left"), placeOf("</style>"), placeOf(undefined)]).toEqual([
    "top-left",
    "bottom-right",
    "bottom-right",
  ]);
  expect([0, 1, 2, 5, 7, 8, Number.POSITIVE_INFINITY].map(delayAfter)).toEqual([
    ...[2_000, 4_000, 8_000, 60_000, 60_000],
    ...[undefined, undefined],
  ]);
});
