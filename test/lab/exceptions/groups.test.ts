import { describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import type { ExceptionGroups, FrameSource } from "../../../src/lab/exceptions/shapes.ts";
import type { EventPage } from "../../../src/state/journal/stored-event.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const error = (value: string, file = "src/a.ts") => ({
  type: "TypeError",
  value,
  mechanism: { handled: false },
  stacktrace: { frames: [{ filename: file, function: "run", lineno: 8, colno: 1, in_app: true }] },
});

const item = (distinct_id: string, value: string, more: object = {}) => ({
  event: "$exception",
  distinct_id,
  properties: { $exception_list: [error(value)], ...more },
});

async function send(url: string, api_key: string, batch: readonly object[]): Promise<void> {
  const body = JSON.stringify({ api_key, batch });
  expect((await fetch(`${url}/batch/`, { method: "POST", body })).status).toBe(200);
}

async function read<T>(url: string, path: string, init?: RequestInit): Promise<T> {
  return (await (await fetch(`${url}/__sim/${path}`, init)).json()) as T;
}

/** Asked until everything was counted. */
async function groupsOf(url: string, query: string): Promise<ExceptionGroups> {
  for (;;) {
    const found = await read<ExceptionGroups>(url, `exceptions?${query}`);
    if (!found.counting) return found;
  }
}

const withSim = async (options: SimOptions, use: (sim: Sim) => Promise<void>) => {
  await using other = await startSim(options);
  await use(other);
};

describe("exceptions by fingerprint", () => {
  test("have their counts, persons, first and last event, the latest first", async () => {
    await using project = await sim.project();
    await send(sim.url, project.apiKey, [
      item("a", "no basket 1"),
      { event: "other", distinct_id: "a", properties: {} },
      item("b", "no basket 2"),
      item("a", "no basket 3"),
      item("a", "whatever", { $exception_fingerprint: "mine" }),
      item("c", "else", { $exception_fingerprint: "mine" }),
    ]);
    const { complete, groups, others } = await groupsOf(sim.url, `project=${project.id}`);
    expect({ complete, others }).toEqual({ complete: true, others: 0 });
    expect(groups).toMatchObject([
      { fingerprint: "mine", message: "else", count: 2, persons: 2 },
      { fingerprint: null, type: "TypeError", message: "no basket 3", at: "src/a.ts:8", count: 3, persons: 2 },
    ]);
    expect((groups[1]?.last ?? 0) - (groups[1]?.first ?? 0)).toBe(3);
    await send(sim.url, project.apiKey, [item("d", "no basket 4")]);
    const again = await groupsOf(sim.url, `project=${project.id}&id=${groups[1]?.id}`);
    expect(again.groups).toMatchObject([{ id: groups[1]?.id, count: 4, persons: 3 }]);
  });

  test("a fingerprint filters events", async () => {
    await using project = await sim.project();
    await send(sim.url, project.apiKey, [item("a", "one 1"), item("a", "two words"), item("a", "one 2")]);
    const { groups } = await groupsOf(sim.url, `project=${project.id}`);
    const id = groups.find(({ count }) => count === 2)?.id ?? "";
    const filter = encodeURIComponent(`exception:${id}`);
    const { events } = await read<EventPage>(sim.url, `events?project=${project.id}&filter=${filter}`);
    expect(events.map(({ properties }) => (properties.$exception_list as { value: string }[])[0]?.value)).toEqual([
      "one 1",
      "one 2",
    ]);
  });

  test("are bounded: further groups are counted together, and damaged events are a group", async () => {
    await using project = await sim.project();
    const words = (i: number) => String.fromCharCode(97 + (i % 26), 97 + (Math.floor(i / 26) % 26));
    await send(
      sim.url,
      project.apiKey,
      Array.from({ length: 600 }, (_, i) => item("a", words(i))),
    );
    await send(sim.url, project.apiKey, [
      { event: "$exception", distinct_id: "a", properties: { $exception_list: "}{" } },
      { event: "$exception", distinct_id: "a", properties: {} },
    ]);
    const { groups, others } = await groupsOf(sim.url, `project=${project.id}`);
    expect(groups.length).toBe(500);
    expect(groups.reduce((sum, { count }) => sum + count, 0) + others).toBe(602);
  });

  test("are counted anew after events were cleared", async () => {
    await withSim({}, async ({ url, apiKey }) => {
      await send(url, apiKey, [item("a", "x")]);
      expect((await groupsOf(url, "")).groups.length).toBe(1);
      await fetch(`${url}/__sim/events`, { method: "DELETE" });
      expect((await groupsOf(url, "")).groups).toEqual([]);
    });
  });
});

describe("the source of a frame over HTTP", () => {
  const path = "events/1/source?cause=0&frame=0";
  const own = {
    event: "$exception",
    distinct_id: "a",
    properties: { $exception_list: [error("x", "src/kernel/base/hash.ts")] },
  };

  test("is a file below the working directory", async () => {
    await withSim({}, async ({ url, apiKey }) => {
      await send(url, apiKey, [own]);
      expect(await read<FrameSource>(url, path)).toMatchObject({ why: null, path: "src/kernel/base/hash.ts", line: 8 });
      expect((await fetch(`${url}/__sim/events/9/source?cause=0&frame=0`)).status).toBe(404);
      expect((await fetch(`${url}/__sim/events/1/source?cause=-1&frame=0`)).status).toBe(400);
      expect((await fetch(`${url}/__sim/events/1/source?cause=0&frame=0&file=x`)).status).toBe(400);
    });
  });

  test("is refused to other pages and foreign hosts", async () => {
    await withSim({}, async ({ url, apiKey }) => {
      await send(url, apiKey, [own]);
      const foreign = { headers: { origin: "http://evil.test" } };
      expect((await fetch(`${url}/__sim/${path}`, foreign)).status).toBe(403);
      const site = { headers: { "sec-fetch-site": "cross-site" } };
      expect((await fetch(`${url}/__sim/${path}`, site)).status).toBe(403);
    });
  });

  test("is never read by a sim that others can reach", async () => {
    const token = "0123456789abcdef0123";
    const headers = { authorization: `Bearer ${token}` };
    for (const options of [{ host: "0.0.0.0" }, { publicUrl: "http://sim.test:7490" }])
      await withSim({ ...options, token }, async ({ url, apiKey }) => {
        await send(url, apiKey, [own]);
        const source = await read<FrameSource>(url, path, { headers });
        expect(source).toMatchObject({ why: "a sim that others can reach reads no sources", lines: [] });
      });
  });
});
