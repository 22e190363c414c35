import { afterEach, expect, test } from "vitest";
import { rerouteVariable } from "../../src/egress/reroute.ts";
import { EgressError } from "../../src/index.ts";
import { createWorkerGuard, type GuardSetting } from "../../src/testing/test-worker.ts";

const url = "http://127.0.0.1:7490";
const service = "https://us.i.posthog.com/batch/";
const worker = createWorkerGuard();
afterEach(() => {
  try {
    worker.close();
  } catch {
    // What a test blocked on purpose.
  }
});

/** Calls that no guard blocks go to a name that does not exist: nothing leaves the machine. */
const call = (target = service) =>
  fetch(target).then(
    () => "answered",
    (error: { cause?: unknown }) => (error.cause instanceof EgressError ? "blocked" : "not blocked"),
  );

const nowhere = "http://nowhere.invalid/batch/";
const settings: [setting: GuardSetting, target: string, outcome: string][] = [
  [true, service, "blocked"],
  [true, nowhere, "not blocked"],
  [false, nowhere, "not blocked"],
  [{ hosts: ["nowhere.invalid"] }, nowhere, "blocked"],
  [{ hosts: ["*"], allow: ["nowhere.invalid"] }, nowhere, "not blocked"],
];
test.each(settings)("with %j, %s is %s", async (setting, target, outcome) => {
  const end = worker.begin(url, setting);
  expect(await call(target)).toBe(outcome);
  if (outcome === "blocked") expect(end).toThrow(`GET ${target}`);
  else end();
});

test("a call between two tests fails the second, and only that one", async () => {
  worker.begin(url, true)();
  expect(await call()).toBe("blocked");
  expect(worker.begin(url, true)).toThrow(`GET ${service}`);
  worker.begin(url, true)();
  worker.close();
});

test("a call after the last test fails the end of the worker", async () => {
  worker.begin(url, true)();
  expect(await call()).toBe("blocked");
  expect(() => worker.close()).toThrow(`GET ${service}`);
  worker.close();
});

test("tests at the same time each report a call, and nothing is left of it", async () => {
  const [one, two] = [worker.begin(url, true), worker.begin(url, true)];
  expect(await call()).toBe("blocked");
  expect(one).toThrow(`GET ${service}`);
  expect(two).toThrow(`GET ${service}`);
  worker.close();
});

test("a call that is rerouted does not leave", async () => {
  const { [rerouteVariable]: before } = process.env;
  process.env[rerouteVariable] = JSON.stringify({ url, hosts: ["nowhere.invalid"] });
  const end = worker.begin(url, { hosts: ["nowhere.invalid"] });
  if (before === undefined) delete process.env[rerouteVariable];
  else process.env[rerouteVariable] = before;
  expect(await call(nowhere)).toBe("not blocked");
  end();
});
