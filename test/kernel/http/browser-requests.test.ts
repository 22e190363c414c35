import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { mayCarryEvents } from "../../../src/state/journal/sdk-paths.ts";

const own = [
  ...["GET /favicon.ico", "HEAD /favicon.ico?v=2", "GET /apple-touch-icon-120x120-precomposed.png"],
  ...["GET /robots.txt", "GET /.well-known/appspecific/com.chrome.devtools.json", "GET /installHook.js.map"],
  ...["GET /static/missing.js.map"],
];
const others = ["POST /favicon.ico", "GET /favicon", "GET /x/robots.txt", "GET /ingest/favicon.ico"];

test.each([false, true])("what browsers request by themselves is no problem (strict: %s)", async (strict) => {
  await using sim = await startSim({ strict });
  const send = async (it: string) => {
    const [method = "", path] = it.split(" ");
    return sim.handle(new Request(sim.url + path, { method }));
  };
  for (const it of own) expect([404, 501]).toContain((await send(it)).status);
  expect(await sim.requests.unmatched()).toEqual([]);
  const { counts } = await sim.info();
  expect(counts).toMatchObject({ requests: own.length, rejected: 0 });
  expect((await sim.requests.list()).map(({ outcome }) => outcome)).toEqual(own.map(() => "answered"));
  for (const it of others) await send(it);
  const unmatched = (await sim.requests.unmatched()).map(({ method, target }) => `${method} ${target}`);
  expect(unmatched.toSorted()).toEqual(others.toSorted());
});

test.each([
  ["POST", "/i/v1/analytics/events", true],
  ["GET", "/e/?data=abc", true],
  ["POST", "/s/", true],
  ["POST", "/ingest/e/", true],
  ["GET", "/ingest/", false],
  ["POST", "/flags/?v=2", false],
  ["GET", "/array/phc_x/config.js", false],
  ["GET", "/favicon.ico", false],
  ["POST", "/api/projects/1/dashboards/", false],
  ["OPTIONS", "/e/", false],
])("%s %s may carry events: %s", (method, target, expected) => {
  expect(mayCarryEvents({ method, target })).toBe(expected);
});
