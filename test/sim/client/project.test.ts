import { afterEach, describe, expect, test, vi } from "vitest";
import {
  connectSim,
  type Events,
  ExpectationError,
  NotAwaitedError,
  type Project,
  startSim,
} from "../../../src/index.ts";
import { capture, ends, held, names } from "./ends.ts";

/** What `/flags` gives an id in a project. */
async function flagsOf(project: Project, distinctId: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${project.host}/flags/?v=2`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: project.apiKey, distinct_id: distinctId }),
  });
  if (response.status !== 200) return { status: response.status };
  const { flags } = (await response.json()) as { flags: Record<string, { variant?: string; enabled: boolean }> };
  return Object.fromEntries(Object.entries(flags).map(([key, it]) => [key, it.variant ?? it.enabled]));
}

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Options as JavaScript passes them: no compiler checks their keys. */
const misspelt = (options: object) => options as never;

describe.each(ends)("sim.project(), $end", (end) => {
  test("has keys of its own, and knows only what is its own", async () => {
    await using it = await held(end);
    await using one = await it.client.project({ name: "one" });
    await using two = await it.client.project();
    expect(one).toMatchObject({ name: "one", projectId: one.id, host: it.sim.url, url: it.sim.url });
    expect(new Set([one.apiKey, two.apiKey, it.sim.apiKey]).size).toBe(3);
    expect([one.apiKey, one.secretApiKey, one.personalApiKey].map((key) => key.slice(0, 4))).toEqual([
      "phc_",
      "phs_",
      "phx_",
    ]);
    await capture(it.sim, "everywhere");
    await capture(one, "a", { event: "$identify", distinct_id: "u1", properties: { $set: { plan: "pro" } } });
    await capture(two, "b");
    expect(names(await one.events.list())).toEqual(["a", "$identify"]);
    expect(names(await one.events.list({ where: { event: (name: unknown) => name !== "a" } }))).toEqual(["$identify"]);
    expect(names(await two.events.list({ project: one.id }))).toEqual(["b"]);
    expect(names(await it.client.events.list())).toEqual(["everywhere", "a", "$identify", "b"]);
    expect(await one.persons.list()).toMatchObject([{ distinct_ids: ["u1"], properties: { plan: "pro" } }]);
    expect(await one.persons.get("u1")).toMatchObject({ project: one.id, history: [{ event: "$identify" }] });
    expect(await one.persons.get("nobody")).toBeUndefined();
    expect(await one.groups.list()).toEqual([]);
    const requests = await one.requests.list();
    expect(requests).toMatchObject([{ project: one.id, events: 2 }]);
    expect(await one.requests.get(requests[0]?.n ?? 0)).toMatchObject({ project: one.id, headers: expect.any(Array) });
    await one.events.clear();
    expect([names(await one.events.list()), names(await two.events.list())]).toEqual([[], ["b"]]);
  });

  test("waits for what is its own", async () => {
    await using it = await held(end);
    await using project = await it.client.project();
    await capture(it.sim, "a");
    const inVain = [
      project.events.waitFor("a", undefined, { timeoutMs: 20 }),
      project.events.waitFor({ event: (name: unknown) => name === "a" }, {}, { timeoutMs: 20 }),
    ];
    for (const result of await Promise.allSettled(inVain)) {
      if (result.status === "fulfilled") throw new Error("it was not its own");
      const { reason } = result;
      expect(reason).toBeInstanceOf(ExpectationError);
      expect(reason.report).toMatchObject({
        project: { id: project.id, api_key: project.apiKey },
        elsewhere: [{ event: "a", project: it.sim.projectId }],
      });
    }
    await project.events.expectNone("a", undefined, { settleMs: 20 });
    await project.settle({ idleMs: 20 });
    const next = project.events.stream()[Symbol.asyncIterator]();
    const streamed = next.next();
    await project.events.mark();
    await capture(it.sim, "a");
    await capture(project, "a");
    expect(await streamed).toMatchObject({ value: { project: project.id } });
    expect(await project.events.waitFor("a")).toMatchObject({ project: project.id });
    await next.return?.();
  });

  test("flags: as given when it was created, and changed later", async () => {
    await using it = await held(end);
    await using project = await it.client.project({ flags: { "new-checkout": "test", mine: true } });
    await using empty = await it.client.project({ like: null });
    expect(await flagsOf(project, "u1")).toMatchObject({ "new-checkout": "test", mine: true, "beta-feature": true });
    expect(await flagsOf(empty, "u1")).toEqual({});
    await project.flags.set("beta-feature", false);
    expect(await flagsOf(project, "u1")).toMatchObject({ "beta-feature": false });
    expect(await project.flags.explain("beta-feature", { distinctId: "u1" })).toMatchObject({ value: false });
    expect((await it.client.flags.get("beta-feature")).overrides).toEqual([]);
    expect((await project.flags.list()).map(({ project: id }) => id)).not.toContain(it.sim.projectId);
    expect(await project.flags.unset("beta-feature")).toBe(1);
    expect(await project.flags.clear()).toBeGreaterThan(0);
    expect(await flagsOf(project, "u1")).not.toHaveProperty("mine");
  });

  test("faults and scripted answers hit it alone", async () => {
    await using it = await held(end);
    await using one = await it.client.project();
    await using two = await it.client.project();
    await it.client.faults.apply("capture-503", { name: "other", match: { project: two.id } });
    const fault = await one.faults.apply("flags-down");
    await one.faults.apply({ name: "slow", match: { method: "POST" }, effect: { latency: 1 } });
    expect(fault.match).toEqual({ route: "flags", project: one.id });
    expect([await flagsOf(one, "u1"), Object.keys(await flagsOf(two, "u1")).length > 1]).toEqual([
      { status: 503 },
      true,
    ]);
    expect((await one.faults.list()).map(({ name }) => name)).toEqual(["flags-down", "slow"]);
    await expect(one.faults.clear("other")).rejects.toMatchObject({ code: "not_found" });
    expect([await one.faults.clear("slow"), await one.faults.clear(), await one.faults.clear()]).toEqual([1, 1, 0]);
    expect((await it.client.faults.list()).map(({ name }) => name)).toEqual(["other"]);

    await it.client.answers.queue({ status: 418 }, { project: two.id });
    await one.answers.queue([{ status: 503 }]);
    expect(await one.answers.list()).toMatchObject([{ project: one.id, waiting: [{ status: 503 }] }]);
    expect(await one.answers.clear()).toBe(1);
    expect(await two.answers.list()).toMatchObject([{ waiting: [{ status: 418 }] }]);
  });

  test("reset brings it back to how it was made", async () => {
    await using it = await held(end);
    await using project = await it.client.project({ name: "mine", flags: { "beta-feature": false } });
    await capture(project, "a");
    await project.flags.set("beta-feature", true);
    await project.reset();
    expect(await project.events.list()).toEqual([]);
    expect(await project.persons.list()).toEqual([]);
    expect(await flagsOf(project, "u1")).toMatchObject({ "beta-feature": false });
  });

  test("disposing deletes it, and is harmless when done twice, or late", async () => {
    await using it = await held(end);
    const project = await it.client.project();
    await capture(project, "a");
    await Promise.all([project.dispose(), project.dispose()]);
    await project.dispose();
    const { projects } = await it.client.info();
    expect(projects).not.toContainEqual(expect.objectContaining({ id: project.id }));
    // what was captured stays, for anyone who looks when the test is over
    expect(await it.client.events.list()).toMatchObject([{ event: "a", project: project.id }]);

    const gone = await it.client.project();
    await it.client.reset();
    await gone.dispose();
    const late = await it.client.project();
    await it.sim.close();
    await late.dispose();
  });

  test("a failing test disposes it, and its own error is what is seen", async () => {
    await using it = await held(end);
    let id = 0;
    const body = async () => {
      await using project = await it.client.project();
      ({ id } = project);
      throw new RangeError("the test's own");
    };
    await expect(body()).rejects.toThrow(RangeError);
    const { projects } = await it.client.info();
    expect(projects).not.toContainEqual(expect.objectContaining({ id }));
  });

  const assertions: [title: string, assert: (project: Project) => unknown][] = [
    ['waitFor("nope")', (it) => it.events.waitFor("nope")],
    ['waitForCount("nope", 2)', (it) => it.events.waitForCount("nope", 2)],
    ['waitForSequence(["a", "b"])', (it) => it.events.waitForSequence(["a", "b"])],
    ['expectNone("nope")', (it) => it.events.expectNone("nope")],
    ["verify({expect: []", (it) => it.events.verify({ expect: [], nothingElse: true })],
    ["my own title", (it) => it.events.waitFor({ event: () => false }, {}, { title: "my own title" })],
  ];
  test.each(assertions)("an assertion without await fails its end: %s", async (title, assert) => {
    await using it = await held(end);
    const project = await it.client.project();
    assert(project);
    await expect(project.dispose()).rejects.toThrow(`assertion not awaited: ${title}`);
    await project.dispose();
    const { projects } = await it.client.info();
    expect(projects).not.toContainEqual(expect.objectContaining({ id: project.id }));
  });

  test("each assertion without await is named, at the line that made the first", async () => {
    await using it = await held(end);
    const project = await it.client.project();
    void project.events.waitFor("a");
    void project.events.expectNone("b");
    const error = await project.dispose().catch((it: unknown) => it);
    expect(error).toBeInstanceOf(NotAwaitedError);
    expect(error).toMatchObject({
      assertions: ['waitFor("a")', 'expectNone("b")'],
      stack: expect.stringMatching(/`await` before it\.\n[\s\S]+\n +at .*project\.test\.ts/),
    });
  });

  test("an assertion that failed is what is reported, not those left behind", async () => {
    await using it = await held(end);
    const body = async () => {
      await using project = await it.client.project();
      const failing = project.events.waitFor("first", {}, { timeoutMs: 0 });
      await Promise.all([failing, project.events.waitFor("left behind")]);
    };
    await expect(body()).rejects.toThrow('waitFor("first"');
  });

  test("the sim's handle reports them, too", async () => {
    await using it = await held(end);
    void it.client.events.waitFor("nope");
    const ended = it.client[Symbol.asyncDispose]();
    await expect(ended).rejects.toThrow('assertion not awaited: waitFor("nope")');
  });

  test("env has its own keys, for one framework or all", async () => {
    await using it = await held(end);
    await using project = await it.client.project();
    expect(project.env("next")).toMatchObject({
      NEXT_PUBLIC_POSTHOG_KEY: project.apiKey,
      NEXT_PUBLIC_POSTHOG_HOST: it.sim.url,
      POSTHOG_API_KEY: project.apiKey,
      POSTHOG_PERSONAL_API_KEY: project.personalApiKey,
      POSTHOG_PROJECT_ID: String(project.id),
    });
    expect(project.env("next")).not.toHaveProperty("VITE_POSTHOG_KEY");
    expect(it.client.env()).toMatchObject({ VITE_POSTHOG_KEY: it.sim.apiKey, PHX_SIM_URL: it.sim.url });
    // @ts-expect-error there is no such framework
    expect(() => it.client.env("qwik")).toThrow(/"qwik"; use one of next, vite/);
  });

  test("an option that does not exist is an error, with the nearest one", async () => {
    await using it = await held(end);
    const { client } = it;
    const calls: [call: () => unknown, message: RegExp][] = [
      [() => client.events.dropped(misspelt({ outcome: "kept" })), /^events\.dropped: unknown option "outcome"/],
      [() => client.events.waitFor("a", {}, misspelt({ timeout: 1 })), /did you mean "timeoutMs"\? \(options: since/],
      [() => client.events.waitForCount("a", 1, misspelt({ propertis: {} })), /did you mean "properties"/],
      [() => client.events.waitForSequence(["a"], misspelt({ distinct_id: "u" })), /did you mean "distinctId"/],
      [() => client.events.expectNone("a", {}, misspelt({ settle: 1 })), /unknown option "settle"/],
      [() => client.events.verify(misspelt({ expect: [], order: true })), /did you mean "ordered"/],
      [() => client.flags.set("a", true, misspelt({ distinct_id: "u" })), /^flags\.set: .* did you mean "distinctId"/],
      [() => client.flags.explain("a", misspelt({ distinctID: "u" })), /did you mean "distinctId"/],
      [() => client.flags.served("a", misspelt({ wait_ms: 1 })), /did you mean "waitMs"/],
      [() => client.settle(misspelt({ idle: 1 })), /unknown option "idle"/],
      [() => client.lint(misspelt({ projct: 1 })), /did you mean "project"/],
      [() => client.answers.clear(misspelt({ projct: 1 })), /did you mean "project"/],
      [() => client.reset(misspelt({ waht: [] })), /did you mean "what"/],
      [() => client.project(misspelt({ flag: {} })), /^project: unknown option "flag"; did you mean "flags"\?/],
      [() => client.clock.set(0, misspelt({ frozn: true })), /did you mean "frozen"/],
      [() => client.tapes.load("a", misspelt({ on_miss: "fail" })), /did you mean "onMiss"/],
      [() => client.events.stream({}, misspelt({ sgnal: 1 })), /^events\.stream: .* did you mean "signal"/],
      [() => client.guard(misspelt({ host: [] })), /did you mean "hosts"/],
      [() => connectSim(it.sim.url, misspelt({ tokn: "a" })), /did you mean "token"/],
      [() => client.events.list(3 as never), /^events\.list: expected an object with options, got 3$/],
      [() => client.project("checkout" as never), /^project: expected an object with options, got "checkout"/],
      [() => client.events.verify([] as never), /^events\.verify: expected an object with options, got \[\]/],
    ];
    for (const [call, message] of calls) {
      const error = await Promise.resolve()
        .then(call)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as TypeError).message).toMatch(message);
      expect((error as TypeError).stack?.split("\n")[1]).toMatch(/project\.test\.ts/);
    }
    expect((await client.info()).projects).toHaveLength(1);
    await using project = await client.project();
    // a query's parameters are those of the control API, which names the nearest one as well
    const queries: [call: () => Promise<unknown>, nearest: string][] = [
      [() => project.events.list(misspelt({ evnt: "a" })), "event"],
      [() => project.requests.list(misspelt({ outcom: "rejected" })), "outcome"],
      [() => project.persons.list(misspelt({ distinctId: "u" })), "distinct_id"],
      [() => client.exports.list(misspelt({ projct: 1 })), "project"],
    ];
    for (const [call, nearest] of queries) await expect(call()).rejects.toThrow(`did you mean ${nearest}?`);
  });

  test.each<[mistake: string, call: (events: Events) => Promise<unknown>, message: RegExp]>([
    ["no terms", (it) => it.verify(undefined as never), /expected \{ expect: .*, got undefined/],
    ["terms without a list", (it) => it.verify({} as never), /expected \{ expect: .*, got \{\}/],
    ["a name as expectation", (it) => it.verify({ expect: ["a"] } as never), /got "a" at expect\[0\]/],
    ["no match", (it) => it.verify({ expect: [{ count: 1 }] } as never), /got \{count: 1\} at expect\[0\]/],
    ["a name as sequence", (it) => it.waitForSequence("ab" as never), /expected a list of names .*, got "ab"/],
  ])("a pattern of the wrong form is an error: %s", async (_, call, message) => {
    await using it = await held(end);
    await expect(call(it.client.events)).rejects.toThrow(message);
    await expect(call(it.client.events)).rejects.toBeInstanceOf(TypeError);
  });

  test("what is said of a mistake", async () => {
    await using it = await held(end);
    await expect(it.client.project({ like: 999_999 })).rejects.toMatchObject({ name: "ControlError" });
  });
});

test("the default wait is the suite's: of the variable, or of the handle", async () => {
  const waited = async (options?: { waitMs: number }) => {
    await using it = await startSim(options);
    await using project = await it.project();
    const error = await project.events.waitFor("missing").catch((it: unknown) => it);
    return Number(/not captured within (\d+) ms/.exec(String(error))?.[1]);
  };
  vi.stubEnv("PHX_SIM_WAIT", "30");
  expect(await waited()).toBeLessThan(2_000);
  expect(await waited({ waitMs: 20 })).toBeLessThan(2_000);
  for (const text of ["soon", "-1", "1.5"]) {
    vi.stubEnv("PHX_SIM_WAIT", text);
    await expect(waited()).rejects.toThrow(`PHX_SIM_WAIT="${text}": expected milliseconds, a whole number from 0`);
  }
  vi.stubEnv("PHX_SIM_WAIT", "");
  await expect(waited({ waitMs: -1 })).rejects.toThrow("waitMs");
});
