import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import type { Problems } from "../../../src/sim/problem-shapes.ts";
import type { Totals } from "../../../src/state/journal/totals-answer.ts";
import { newFolder } from "../../support/folder.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const names = ["viewed", "clicked", "signed_up"] as const;

/** A third each of the names; each tenth event has no name, each fifteenth other one a warning. */
const eventAt = (i: number) => ({
  event: i % 10 === 9 ? "" : names[i % 3],
  distinct_id: `user-${i % 7}`,
  properties: { i, pad: "x".repeat(200), ...(i % 15 === 0 && { $process_person_profile: "perhaps" }) },
});

const post = (url: string, path: string, body: unknown) =>
  fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });

async function send(url: string, api_key: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 300) {
    const batch = Array.from({ length: Math.min(300, count - from) }, (_, i) => eventAt(from + i));
    await post(url, "/batch/", { api_key, batch });
  }
}

const read = async <T>(url: string, path: string): Promise<T> =>
  (await (await fetch(`${url}/__sim/${path}`)).json()) as T;

/** Asked until everything was counted. */
async function totalsOf(url: string, query: string): Promise<Totals> {
  for (;;) {
    const totals = await read<Totals>(url, `totals?${query}`);
    if (totals.events.complete && totals.requests.complete) return totals;
  }
}

const problemsOf = (url: string, query = "") => read<Problems>(url, `problems?${query}`);

const codes = ({ events }: Problems) => events.map(({ code, count }) => [code, count]);

const folder = async (use: (start: (more?: SimOptions) => Promise<Sim>) => Promise<void>) => {
  const data = newFolder();
  await use((more) => startSim({ data, ...more }));
};

describe("totals", () => {
  test("are those of all events of the project, whatever a list shows", async () => {
    await using project = await sim.project();
    await using other = await sim.project();
    await send(sim.url, project.apiKey, 1_200);
    await send(sim.url, other.apiKey, 300);
    const { events, requests, persons } = await totalsOf(sim.url, `project=${project.id}`);
    expect(events).toMatchObject({ total: 1_200, kept: 1_080, dropped: 120, warned: 80, more_names: 0 });
    // as many of each: the latest first
    expect(events.names.map(({ event, count }) => [event, count])).toEqual([
      ["clicked", 360],
      ["viewed", 360],
      ["signed_up", 360],
      ["", 120],
    ]);
    expect(events.codes).toMatchObject([
      { code: "empty_event_name", count: 120, dropped: 120 },
      { code: "invalid_process_person_profile", count: 80, dropped: 0 },
    ]);
    expect(requests).toMatchObject({ total: 4, answered: 4, rejected: 0 });
    expect(persons).toBe(7);
    expect((await totalsOf(sim.url, `project=${other.id}`)).events.total).toBe(300);
  });

  const filters: [filter: string, total: number][] = [
    ["is:dropped", 120],
    ["is:kept", 1_000],
    ["is:warned", 80],
    ["event:clicked", 360],
    ["event:clicked is:warned", 0],
    ["reason:empty_event_name", 120],
    ["reason:INVALID_process_person_profile is:warned", 80],
    ["reason:INVALID_process_person_profile is:kept", 0],
    ["outcome:kept is:warned", 80],
    ["outcome:kept is:kept", 1_000],
    ["is:own", 1_200],
    ["is:sdk", 0],
    ["reason:empty_*", 120],
    ["distinct_id:user-3 is:dropped", 17],
    ["is:kept is:dropped", 0],
    ["-is:dropped", 1_080],
    ["is:kept or is:dropped", 1_120],
    ["is:kept or is:warned or is:dropped", 1_200],
    ["prop.i:<=99", 100],
    ["prop.i:<=99 is:dropped", 10],
    ["since:1h", 1_200],
    ["since:1h is:dropped", 120],
  ];
  /** How many rows a list has, page by page: on a busy machine a page is short. */
  async function rowsOf(query: string): Promise<number> {
    let count = 0;
    for (let before: number | null = null; ; ) {
      const page: { rows: unknown[]; before: number | null; more: boolean } = await read(
        sim.url,
        `feed/events?${query}${before === null ? "" : `&before=${before}`}`,
      );
      count += page.rows.length;
      if (!page.more) return count;
      before = page.before;
    }
  }

  test("of a filter are as many as the list has", async () => {
    await using project = await sim.project();
    await send(sim.url, project.apiKey, 1_200);
    for (const [filter, total] of filters) {
      const query = `project=${project.id}&events=${encodeURIComponent(filter)}`;
      const listed = await rowsOf(`project=${project.id}&filter=${encodeURIComponent(filter)}`);
      expect([filter, (await totalsOf(sim.url, query)).events.total, listed]).toEqual([filter, total, total]);
      const twice = `project=${project.id}&events=${encodeURIComponent(`${filter} project:${project.id + 1}`)}`;
      expect([filter, (await totalsOf(sim.url, twice)).events.total]).toEqual([
        filter,
        filter.includes("warned or") ? 1_080 : filter.includes(" or ") ? 1_000 : 0,
      ]);
    }
  });

  test("of requests go by their filter", async () => {
    await using one = await startSim();
    await send(one.url, one.apiKey, 300);
    await post(one.url, "/flags/?v=2", { token: one.apiKey, distinct_id: "anna" });
    await post(one.url, "/nowhere", {});
    const count = async (filter: string, more = "") =>
      (await totalsOf(one.url, `requests=${encodeURIComponent(filter)}${more}`)).requests;
    expect(await count("")).toMatchObject({ total: 3, answered: 2, rejected: 1 });
    expect(await count("is:rejected")).toMatchObject({ total: 1, answered: 0, rejected: 1 });
    expect(await count("is:unmatched route:/nowhere")).toMatchObject({ total: 1, rejected: 1 });
    expect(await count("route:/flags")).toMatchObject({ total: 1, answered: 1 });
    expect(await count("event:clicked")).toMatchObject({ total: 1, answered: 1 });
    expect(await count("", `&project=${one.projectId}`)).toMatchObject({ total: 2, answered: 2 });
  });

  test("go on with what arrives, and begin anew where events are cleared", async () => {
    await using project = await sim.project();
    const query = `project=${project.id}&events=${encodeURIComponent("prop.i:<5")}`;
    await send(sim.url, project.apiKey, 30);
    expect((await totalsOf(sim.url, query)).events.total).toBe(5);
    await send(sim.url, project.apiKey, 30);
    expect((await totalsOf(sim.url, query)).events.total).toBe(10);
    expect((await totalsOf(sim.url, `project=${project.id}`)).events.total).toBe(60);
    await project.events.clear();
    expect((await totalsOf(sim.url, `project=${project.id}`)).events.total).toBe(0);
    await send(sim.url, project.apiKey, 3);
    expect((await totalsOf(sim.url, query)).events.total).toBe(3);
  });

  test.each([
    ["events=prop.a:>", "?events"],
    ["requests=(", "?requests"],
    ["project=x", "?project"],
    ["evnets=a", "?evnets"],
  ])("%s is refused", async (query, pointer) => {
    const answer = await fetch(`${sim.url}/__sim/totals?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "invalid_input", pointer });
  });
});

describe("problems", () => {
  test("stay until they are cleared, and come again where they happen again", async () => {
    await using one = await startSim();
    const query = `project=${one.projectId}`;
    await send(one.url, one.apiKey, 30);
    await post(one.url, "/nowhere", {});
    const found = await problemsOf(one.url, query);
    expect(codes(found)).toEqual([
      ["empty_event_name", 3],
      ["invalid_process_person_profile", 2],
    ]);
    expect(found.requests).toMatchObject([{ status: 404, what: "POST /nowhere", count: 1 }]);
    const cleared = await fetch(`${one.url}/__sim/problems?${query}`, { method: "DELETE" });
    expect(cleared.status).toBe(200);
    expect(await problemsOf(one.url, query)).toEqual({
      complete: true,
      counting: false,
      events: [],
      requests: [],
      other_requests: 0,
    });
    expect((await totalsOf(one.url, query)).events).toMatchObject({ total: 30, dropped: 3 });
    await send(one.url, one.apiKey, 10);
    expect(codes(await problemsOf(one.url, query))).toEqual([
      ["empty_event_name", 1],
      ["invalid_process_person_profile", 1],
    ]);
  });

  test("of requests are distinguished by reason, and by path where there is none", async () => {
    await using one = await startSim();
    for (const path of ["/ingest/e/?a=1", "/x", "/ingest/e/"]) await post(one.url, path, {});
    for (let i = 0; i < 3; i++) await post(one.url, "/e/", { api_key: "phc_typo", event: "x", distinct_id: "u" });
    const { requests } = await problemsOf(one.url);
    expect(requests.map(({ what, status, count }) => [what, status, count])).toEqual([
      ["POST /e/", 401, 3],
      ["POST /ingest/e/", 404, 2],
      ["POST /x", 404, 1],
    ]);
    // what belongs to no project may be meant for this one
    expect((await problemsOf(one.url, `project=${one.projectId}`)).requests).toHaveLength(3);
  });

  test("outlast the events that memory lets go of; totals count those, too", async () => {
    await using one = await startSim({ keep: "1MB" });
    await post(one.url, "/capture/", { api_key: one.apiKey, event: "", distinct_id: "u" });
    await post(one.url, "/nowhere", {});
    await send(one.url, one.apiKey, 9_000);
    expect((await fetch(`${one.url}/__sim/events/1`)).status).toBe(404);
    const found = await problemsOf(one.url);
    expect(found).toMatchObject({ complete: true, requests: [{ status: 404, what: "POST /nowhere", count: 1 }] });
    expect(codes(found)[0]).toEqual(["empty_event_name", 901]);
    const { events } = await totalsOf(one.url, "");
    expect(events).toMatchObject({ total: 9_001, dropped: 901 });
    expect(events.names.map(({ event }) => event)).toContain("viewed");
    // what must be read, and cannot be, is not counted as if it were none
    const counted = async (): Promise<Totals["events"]> => {
      const part = await read<Totals>(one.url, `totals?events=${encodeURIComponent("prop.i:>=0")}`);
      return part.events.counting ? counted() : part.events;
    };
    // no one needs to ask again
    expect(await counted()).toMatchObject({ complete: false, counting: false });
  });

  test("of a data folder are there after a restart; those that were cleared are not", () =>
    folder(async (start) => {
      let one = await start();
      await send(one.url, one.apiKey, 30);
      await post(one.url, "/nowhere", {});
      const totals = await totalsOf(one.url, "");
      await one.close();
      one = await start();
      expect(await totalsOf(one.url, "")).toEqual(totals);
      const found = await problemsOf(one.url);
      expect(codes(found)).toHaveLength(2);
      expect(found.requests).toMatchObject([{ what: "POST /nowhere", count: 1 }]);
      await fetch(`${one.url}/__sim/problems`, { method: "DELETE" });
      await send(one.url, one.apiKey, 10);
      const left = await problemsOf(one.url);
      await one.close();
      one = await start();
      expect(await problemsOf(one.url)).toEqual(left);
      await one.close();
      // indexes are caches
      for (const name of ["events.idx", "requests.idx"]) rmSync(join(one.data ?? "", name));
      one = await start();
      expect(await problemsOf(one.url)).toEqual(left);
      expect((await totalsOf(one.url, "")).events.total).toBe(40);
      await one.close();
    }));
});
