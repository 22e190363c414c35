import { afterEach, expect, test } from "vitest";
import { EgressError } from "../../src/index.ts";
import { rerouteVariable } from "../../src/lab/egress/reroute.ts";
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

/** Begins a test; the function that it returns ends it. */
function begin(setting: GuardSetting, name = "a test"): () => void {
  const test = worker.begin(url, setting, name);
  return () => test.end();
}
const begun = async (name: string) => begin(true, name);

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const nowhere = "http://nowhere.invalid/batch/";
const settings: [setting: GuardSetting, target: string, outcome: string][] = [
  [true, service, "blocked"],
  [true, nowhere, "not blocked"],
  [false, nowhere, "not blocked"],
  [{ hosts: ["nowhere.invalid"] }, nowhere, "blocked"],
  [{ hosts: ["*"], allow: ["nowhere.invalid"] }, nowhere, "not blocked"],
];
test.each(settings)("with %j, %s is %s", async (setting, target, outcome) => {
  const end = begin(setting);
  expect(await call(target)).toBe(outcome);
  if (outcome === "blocked") expect(end).toThrow(`GET ${target}`);
  else end();
});

test("a call between two tests fails the second, and only that one", async () => {
  begin(true)();
  expect(await call()).toBe("blocked");
  expect(begin(true)).toThrow(`GET ${service}`);
  begin(true)();
  worker.close();
});

test("a call after the last test fails the end of the worker", async () => {
  begin(true)();
  expect(await call()).toBe("blocked");
  expect(() => worker.close()).toThrow(`GET ${service}`);
  worker.close();
});

test("of tests at the same time, the one whose code called reports it", async () => {
  const body = async (name: string, isWrong: boolean) => {
    const end = begin(true, name);
    for (const _ of "twice") if (isWrong) expect(await call()).toBe("blocked");
    return end;
  };
  const [one, two, three] = await Promise.all([body("one", false), body("two", true), body("three", false)]);
  one();
  expect(two).toThrow(`GET ${service}`);
  three();
  worker.close();
});

test("a call of a test that has ended is reported once, with its name", async () => {
  const { later, go } = await (async () => {
    const end = begin(true, "the first");
    const { promise, resolve } = deferred();
    const later = promise.then(() => call());
    end();
    return { later, go: resolve };
  })();
  const [two, three] = await Promise.all([begun("two"), begun("three")]);
  go();
  expect(await later).toBe("blocked");
  expect(two).toThrow('by "the first", which has ended');
  three();
  worker.close();
});

test("a call that is rerouted does not leave", async () => {
  const { [rerouteVariable]: before } = process.env;
  process.env[rerouteVariable] = JSON.stringify({ url, hosts: ["nowhere.invalid"] });
  const end = begin({ hosts: ["nowhere.invalid"] });
  if (before === undefined) delete process.env[rerouteVariable];
  else process.env[rerouteVariable] = before;
  expect(await call(nowhere)).toBe("not blocked");
  end();
});
