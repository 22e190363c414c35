import { describe, expect, test } from "vitest";
import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { createFaults } from "../../../src/lab/faults/rules.ts";
import type { FaultOrder, FaultUse } from "../../../src/lab/faults/shapes.ts";

const start = Date.UTC(2025, 0, 1);

function open(...uses: FaultUse[]) {
  const clock = fixedClock(start);
  const reported: string[] = [];
  const faults = createFaults({ clock, onChange: (text) => reported.push(text) });
  for (const use of uses) faults.apply(use);
  return { clock, faults, reported };
}

interface Asked {
  method?: string;
  path?: string;
  family?: string;
  project?: number | null;
}

const facts = ({ method = "POST", path = "/batch", family = "capture", project = 1 }: Asked = {}) => ({
  method,
  path,
  headers: {},
  family,
  project: () => project,
});

const down: FaultOrder = { effect: { status: 503 } };

describe("which calls a rule is about", () => {
  const everything: Asked[] = [
    { path: "/batch" },
    { path: "/i/v1/analytics/events", family: "capture-v1" },
    { path: "/flags", family: "flags" },
    { path: "/array/phc_a/config", family: "service", method: "GET" },
    { path: "/api/projects/1/dashboards", family: "management", method: "GET" },
    { path: "/api/projects/2/dashboards/7", family: "management", method: "GET", project: 2 },
    { path: "/batch", method: "OPTIONS" },
  ];
  const rows: [match: FaultOrder["match"], hit: number[]][] = [
    [{}, [0, 1, 2, 3, 4, 5]],
    [{ route: "capture" }, [0, 1]],
    [{ route: "flags" }, [2]],
    [{ route: "service" }, [3]],
    [{ route: "sdk" }, [0, 1, 2, 3]],
    [{ route: "management" }, [4, 5]],
    [{ route: "/batch/" }, [0]],
    [{ route: "GET /batch" }, []],
    [{ route: "OPTIONS /batch" }, [6]],
    [{ route: "/api/*" }, [4, 5]],
    [{ route: "/api/projects/:id/dashboards" }, [4]],
    [{ route: "/api/*/2/dashboards/:id" }, [5]],
    [{ route: "/api/projects/:id/dashboards/*" }, [5]],
    [{ route: "/*" }, [0, 1, 2, 3, 4, 5]],
    [{ method: "GET" }, [3, 4, 5]],
    [{ method: "OPTIONS" }, [6]],
    [{ project: 2 }, [5]],
    [{ project: 3 }, []],
    [{ route: "management", project: 1 }, [4]],
  ];
  test.each(rows)("%j", (match, hit) => {
    const { faults } = open({ ...down, match });
    const found = everything.flatMap((it, i) => (faults.take(facts(it)) ? [i] : []));
    expect(found).toEqual(hit);
    expect(faults.list()[0]?.used).toBe(hit.length);
  });

  test("the project is looked for only when a rule asks", () => {
    const { faults } = open(down);
    const project = () => {
      throw new Error("no request is expected");
    };
    expect(faults.take({ ...facts(), project })).toMatchObject({ name: "fault-1" });
  });
});

describe("which calls an effect has to do with", () => {
  const rows: [effect: FaultOrder["effect"], asked: Asked, hit: boolean][] = [
    [{ flags: "partial" }, { path: "/flags", family: "flags" }, true],
    [{ flags: "partial" }, { path: "/flags", family: "flags", method: "GET" }, false],
    [{ flags: "partial" }, { path: "/flags/definitions", family: "flags", method: "GET" }, false],
    [{ quota: ["events"] }, { path: "/batch" }, true],
    [{ quota: ["events"] }, { path: "/s" }, false],
    [{ quota: ["recordings"] }, { path: "/s" }, true],
    [{ quota: ["recordings"] }, { path: "/batch" }, false],
    [{ quota: ["feature_flags"] }, { path: "/flags/definitions", family: "flags", method: "GET" }, true],
    [{ quota: ["feature_flags"] }, { path: "/array/a/config", family: "service", method: "GET" }, false],
    [{ quota: ["feature_flags", "events"] }, { path: "/decide", family: "flags" }, true],
  ];
  test.each(rows)("%j, %j: %j", (effect, asked, hit) => {
    const { faults } = open({ effect, times: 1 });
    expect(faults.take(facts(asked)) !== undefined).toBe(hit);
    expect(faults.list()[0]?.state).toBe(hit ? "used_up" : "active");
  });
});

describe("how often", () => {
  const hits = (faults: ReturnType<typeof open>["faults"], count: number): string =>
    Array.from({ length: count }, () => (faults.take(facts()) ? "x" : ".")).join("");

  test("times", () => {
    const { faults, reported } = open({ preset: "capture-503", times: 2 });
    expect(hits(faults, 4)).toBe("xx..");
    expect(faults.active).toBe(false);
    expect(faults.list()).toMatchObject([{ name: "capture-503", state: "used_up", used: 2 }]);
    expect(reported).toEqual([
      "fault capture-503 is on: status 503 on capture, 2 times",
      "fault capture-503 ended: used up; requests affected: 2",
    ]);
  });

  test("a rate hits the same calls for the same seed, others for another", () => {
    const pattern = (seed: number) => hits(open({ ...down, rate: 0.3, seed }).faults, 1_000);
    const first = pattern(1);
    expect(pattern(1)).toBe(first);
    expect(pattern(2)).not.toBe(first);
    expect(first.replaceAll(".", "").length).toBeGreaterThan(250);
    expect(first.replaceAll(".", "").length).toBeLessThan(350);
  });

  test("calls that it is not about do not change which ones a rate hits", () => {
    const { faults } = open({ ...down, rate: 0.3, match: { route: "capture" } });
    const pattern = Array.from({ length: 50 }, () => {
      faults.take(facts({ path: "/flags", family: "flags" }));
      return faults.take(facts()) ? "x" : ".";
    });
    expect(pattern.join("")).toBe(hits(open({ ...down, rate: 0.3 }).faults, 50));
  });

  test.each<[number | string]>([[1_500], ["1500ms"], ["1.5s"]])("a duration of %j", (duration) => {
    const { clock, faults, reported } = open({ ...down, name: "short", duration });
    clock.set(start + 1_499);
    expect(hits(faults, 1)).toBe("x");
    clock.set(start + 1_500);
    expect(hits(faults, 1)).toBe(".");
    expect(faults.active).toBe(false);
    clock.set(start);
    expect(hits(faults, 1)).toBe(".");
    expect(faults.list()).toMatchObject([{ state: "expired", used: 1, duration: 1_500 }]);
    expect(reported.at(-1)).toBe("fault short ended: its time has passed; requests affected: 1");
  });

  test("a jitter stays in its range and depends on the seed", () => {
    const delays = (seed: number) => {
      const { faults } = open({ effect: { latency: "1s", jitter: 400 }, seed });
      return Array.from({ length: 200 }, () => faults.take(facts())?.delay ?? -1);
    };
    const first = delays(7);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(600);
    expect(Math.max(...first)).toBeLessThanOrEqual(1_400);
    expect(new Set(first).size).toBeGreaterThan(100);
    expect(delays(7)).toEqual(first);
  });
});

describe("several rules", () => {
  test("latencies add up, of the rest the first one counts", () => {
    const { faults } = open(
      { name: "slow", effect: { latency: 100 } },
      { name: "down", effect: { latency: 20, status: 503 } },
      { name: "cut", effect: { socket: "reset" } },
    );
    expect(faults.take(facts())).toMatchObject({
      name: "slow, down",
      delay: 120,
      answer: { status: 503, body: "transient error, please retry" },
    });
    expect(faults.list().map(({ name, used }) => [name, used])).toEqual([
      ["slow", 1],
      ["down", 1],
      ["cut", 0],
    ]);
  });

  test("the second one's turn comes when the first is used up", () => {
    const { faults } = open({ ...down, times: 1 }, { effect: { status: 500 }, times: 1 });
    const statuses = [1, 2, 3].map(() => faults.take(facts())?.answer?.status);
    expect(statuses).toEqual([503, 500, undefined]);
  });

  test("cleared by id, by name, all", () => {
    const { faults } = open("flags-down", "flags-down", { ...down, name: "mine" }, "garbage-json");
    expect(faults.clear("fault-1")).toBe(1);
    expect(faults.clear("mine")).toBe(1);
    expect(faults.clear("mine")).toBe(0);
    expect(faults.list().map(({ id }) => id)).toEqual(["fault-2", "fault-4"]);
    expect(faults.clear()).toBe(2);
    expect(faults.active).toBe(false);
    expect(faults.apply("flags-down").id).toBe("fault-5");
  });

  test("those that are over are forgotten in the end", () => {
    const { faults } = open();
    for (let n = 0; n < 250; n++) {
      faults.apply({ ...down, times: 1 });
      faults.take(facts());
    }
    expect(faults.list()).toHaveLength(100);
    expect(faults.list().at(-1)).toMatchObject({ id: "fault-250", used: 1 });
  });
});

describe("presets", () => {
  test("parts that are given replace the preset's", () => {
    const { faults } = open({ preset: "flags-slow", effect: { latency: 5 }, match: { project: 2 }, times: 3 });
    expect(faults.list()).toMatchObject([
      {
        name: "flags-slow",
        preset: "flags-slow",
        match: { route: "flags", project: 2 },
        effect: { latency: 5 },
        times: 3,
        text: "5 ms of latency on flags of project 2, 3 times",
      },
    ]);
  });
});

describe("in words", () => {
  const rows: [use: FaultUse, text: string][] = [
    ["flags-partial", "every second flag failing on flags"],
    ["flags-slow", "2 s of latency on flags"],
    ["rate-limited", "status 429 on all requests"],
    ["quota-exhausted", "used up: events, recordings, feature_flags on sdk"],
    ["connection-reset", "a connection reset on all requests"],
    ["garbage-json", "responses that are not JSON on all requests"],
    [
      { effect: { socket: "reset", after: true, latency: 50, jitter: 10 }, rate: 0.25, duration: "1m" },
      "50 ms ± 10 ms of latency, then a connection reset after the request was handled on all requests, for 25 % of them, for 60 s",
    ],
    [
      { effect: { body: "truncate" }, match: { method: "POST", route: "/flags" }, times: 1 },
      "responses cut off half way on POST /flags, once",
    ],
    [{ effect: { flags: ["a", "b"] } }, "failing flags a, b on all requests"],
    [{ effect: { socket: "hang" } }, "no response on all requests"],
    [{ effect: { latency: 0 } }, "no latency on all requests"],
  ];
  test.each(rows)("%j", (use, text) => {
    expect(open().faults.apply(use).text).toBe(text);
  });
});
