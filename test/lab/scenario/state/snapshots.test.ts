import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkData, type Sim, startSim } from "../../../../src/index.ts";
import { control as controlOf } from "../../../support/control.ts";
import { newFolder } from "../../../support/folder.ts";
import { rewriteLine } from "../../../support/rewrite-line.ts";

/** What a caller can see of the state. */
const seen = async (sim: Sim) => ({
  events: (await sim.events.list()).map((it) => [it.seq, it.event, it.outcome]),
  persons: await sim.persons.list(),
  groups: await sim.groups.list(),
  requests: (await sim.requests.list()).map((it) => it.n),
  dashboards: await dashboards(sim),
  counts: await countsOf(sim),
});

async function countsOf(sim: Sim) {
  const { evicted_requests: _, ...counts } = (await sim.info()).counts as Record<string, number>;
  return counts;
}

const manage = (sim: Sim, method: string, path: string, body?: object) =>
  sim.handle(
    new Request(`${sim.url}/api/projects/${sim.projectId}/${path}`, {
      method,
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );

/** Asked with the control API: a look must not be in the journal. */
async function dashboards(sim: Sim): Promise<unknown[]> {
  const { world } = (await sim.state.export()) as unknown as { world: { dashboards: { name: string }[] } };
  return world.dashboards.map((it) => it.name);
}

const capture = (sim: Sim, body: object) =>
  sim.handle(
    new Request(`${sim.url}/capture/`, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...body }) }),
  );

async function live(sim: Sim, tag: string): Promise<void> {
  await capture(sim, {
    event: "$identify",
    distinct_id: `user-${tag}`,
    properties: { $anon_distinct_id: `anon-${tag}`, $set: { tag } },
  });
  await capture(sim, {
    event: "$groupidentify",
    distinct_id: `user-${tag}`,
    properties: { $group_type: "company", $group_key: tag, $group_set: { tag } },
  });
  await capture(sim, { event: "", distinct_id: "x" });
  await manage(sim, "POST", "dashboards/", { name: tag });
}

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

describe.each(["in memory", "in a folder"])("%s", (where) => {
  let sim: Sim;
  const start = () => startSim(where === "in memory" ? {} : { data: folder });
  beforeEach(async () => {
    sim = await start();
  });
  afterEach(() => sim.close());

  test("a restored snapshot is what was there, and numbering goes on", async () => {
    await live(sim, "one");
    const before = await seen(sim);
    await sim.snapshot("base");
    await live(sim, "two");
    await capture(sim, { event: "again", distinct_id: "user-one", properties: { $set: { tag: "changed" } } });
    const cursor = await sim.events.mark();
    expect(await sim.restore("base")).toMatchObject({ name: "base", has_events: true, hint: null, cursor });
    expect(await seen(sim)).toEqual(before);
    await capture(sim, { event: "next", distinct_id: "user-one" });
    expect((await sim.events.list()).at(-1)).toMatchObject({ seq: cursor + 1, event: "next" });
  });

  test("what was cleared since can be seen again, what was cleared before cannot", async () => {
    await live(sim, "gone");
    await sim.events.clear();
    await live(sim, "kept");
    const before = await seen(sim);
    await sim.snapshot("base");
    await sim.events.clear();
    await sim.restore("base");
    expect(await seen(sim)).toEqual(before);
  });

  test("outlives a reset", async () => {
    await live(sim, "one");
    const before = await seen(sim);
    await sim.snapshot("base");
    await sim.reset();
    expect(await seen(sim)).toMatchObject({ events: [], persons: [], requests: [] });
    await live(sim, "two");
    await sim.restore("base");
    expect(await seen(sim)).toEqual(before);
  });

  test("the journal of a reset is seen as little as an emptied one, and its uuids may come again", async () => {
    const uuid = "0190b5a0-0000-7000-8000-000000000001";
    await capture(sim, { event: "a", distinct_id: "u", uuid });
    const [request] = await sim.requests.list();
    await sim.snapshot("base");
    await sim.reset();
    expect(await countsOf(sim)).toMatchObject({ requests: 0, events: 0, kept: 0 });
    const one = await sim.handle(new Request(`${sim.url}/__sim/requests/${request?.n}`));
    expect(one.status).toBe(404);
    await capture(sim, { event: "b", distinct_id: "u", uuid });
    expect(await sim.events.list()).toMatchObject([{ event: "b", outcome: "kept" }]);
    await sim.restore("base");
    expect(await sim.events.list()).toMatchObject([{ event: "a", outcome: "kept" }]);
  });

  test("several, in any order and more than once", async () => {
    const states: Record<string, unknown> = {};
    for (const name of ["a", "b", "c"]) {
      await live(sim, name);
      states[name] = await seen(sim);
      await sim.snapshot(name);
    }
    for (const name of ["b", "c", "a", "a", "c"]) {
      await sim.restore(name);
      expect(await seen(sim)).toEqual(states[name]);
    }
  });

  test("a snapshot of an empty sim empties it again", async () => {
    const before = await seen(sim);
    await sim.snapshot("empty");
    await live(sim, "one");
    await sim.restore("empty");
    expect(await seen(sim)).toEqual(before);
  });

  test("listed, replaced, deleted; names do not go by case", async () => {
    await sim.clock.freeze("2030-01-01");
    await sim.snapshot("Base");
    await sim.clock.advance("1m");
    await sim.snapshot("other");
    await live(sim, "one");
    await sim.clock.advance("1m");
    const again = await control(sim, "POST", "snapshots", { name: "base" });
    expect(again.answer).toMatchObject({ name: "base", replaced: true });
    expect(await sim.snapshots.list()).toEqual([
      { name: "other", created_at: "2030-01-01T00:01:00.000Z", events: 0, persons: 0, damaged: null },
      { name: "base", created_at: "2030-01-01T00:02:00.000Z", events: 3, persons: 1, damaged: null },
    ]);
    await sim.restore("BASE");
    await sim.snapshots.delete("BASE");
    expect((await sim.snapshots.list()).map((it) => it.name)).toEqual(["other"]);
  });

  test("under traffic: no request fails, and no restored state is half of one", async () => {
    await sim.snapshot("empty");
    let isOver = false;
    let onAnswer = () => {};
    const nextAnswer = () => new Promise<void>((resolve) => (onAnswer = resolve));
    const sender = async (name: string) => {
      for (let i = 0; !isOver; i++) {
        const id = `${name}-${i}`;
        const { status } = await capture(sim, { event: "e", distinct_id: id, properties: { $set: { id } } });
        expect(status).toBe(200);
        onAnswer();
      }
    };
    const senders = [sender("a"), sender("b"), sender("c")];
    for (let i = 0; i < 10; i++) {
      await nextAnswer();
      const { events, persons } = await sim.snapshot("busy");
      expect(events).toBeGreaterThan(0);
      expect(persons).toBe(events);
      await sim.restore(i % 2 === 0 ? "busy" : "empty");
    }
    isOver = true;
    await Promise.all(senders);
    await sim.restore("busy");
    const ids = (await sim.events.list()).map((it) => it.distinct_id);
    const owners = (await sim.persons.list({ limit: 10_000 })).flatMap((it) => it.distinct_ids);
    expect(ids).not.toEqual([]);
    expect(owners.sort()).toEqual(ids.sort());
  });
});

const control = (sim: Sim, method: string, path: string, body?: unknown) =>
  controlOf<Record<string, unknown>>(sim, method, path, body);

describe("mistakes", () => {
  let sim: Sim;
  beforeEach(async () => {
    sim = await startSim({ data: folder });
  });
  afterEach(() => sim.close());

  test.each([
    "",
    ".",
    "..",
    "../up",
    "a/b",
    "a\\b",
    "/root",
    "C:",
    ".hidden",
    "-x",
    "dot.",
    "nul\0",
    "ä",
    "a b",
    "x".repeat(65),
    7,
    null,
    undefined,
  ])("%j is no name", async (name) => {
    const { status, answer } = await control(sim, "POST", "snapshots", { name });
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", "/name"]);
    expect(readdirSync(folder)).not.toContain("snapshots");
  });

  test.each(["..%2F..%2Fetc", "..%5Cup", "nobody"])("there is no %s to restore or delete", async (name) => {
    await sim.snapshot("nobodies");
    for (const [method, path] of [
      ["POST", `snapshots/${name}/restore`],
      ["DELETE", `snapshots/${name}`],
    ] as const) {
      const { status, answer } = await control(sim, method, path);
      expect([status, answer.code]).toEqual([404, "not_found"]);
      expect(answer.hint).toMatch(/nobodies/);
    }
  });

  test("a snapshot with an unknown key is refused", async () => {
    const { status, answer } = await control(sim, "POST", "snapshots", { name: "a", nmae: "b" });
    expect([status, answer.pointer]).toEqual([400, "/nmae"]);
  });

  test("the snapshot after a hundred is refused", async () => {
    await using memory = await startSim();
    for (let i = 0; i < 100; i++) await memory.snapshot(`s${i}`);
    await expect(memory.snapshot("one-more")).rejects.toMatchObject({ status: 409 });
    await memory.snapshot("s7");
  });

  const damages: [what: string, file: string, damage: (file: string) => void][] = [
    ["people cut off", "people.ndjson", (file) => truncateSync(file, readFileSync(file).length - 3)],
    ["people missing", "people.ndjson", (file) => rmSync(file)],
    ["world missing", "world.json", (file) => rmSync(file)],
    ["world not JSON", "world.json", (file) => writeFileSync(file, "{")],
    ["no world", "world.json", (file) => writeFileSync(file, '{"version":2}')],
  ];
  test.each(damages)("%s: refused, and nothing has changed", async (_, file, damage) => {
    await live(sim, "one");
    await sim.snapshot("base");
    await live(sim, "two");
    const before = await seen(sim);
    damage(join(folder, "snapshots", "base", file));
    const { status, answer } = await control(sim, "POST", "snapshots/base/restore");
    expect([status, answer.code]).toEqual([409, "conflict"]);
    expect(answer.detail).toContain(join(folder, "snapshots", "base", file));
    expect(await seen(sim)).toEqual(before);
  });
});

describe("in a data folder", () => {
  test("snapshots, and what a restore hides and shows, are there after a restart", async () => {
    await using first = await startSim({ data: folder });
    await live(first, "one");
    const before = await seen(first);
    await first.snapshot("base");
    await live(first, "two");
    const later = await seen(first);
    await first.snapshot("later");
    await first.restore("base");
    await first.close();
    await using second = await startSim({ data: folder });
    expect(await seen(second)).toEqual(before);
    await second.restore("later");
    expect(await seen(second)).toEqual(later);
  });

  test("also when the index files are lost", async () => {
    await using first = await startSim({ data: folder });
    await live(first, "one");
    const before = await seen(first);
    await first.snapshot("base");
    await first.events.clear();
    await first.reset();
    await live(first, "two");
    await first.restore("base");
    await first.close();
    for (const file of readdirSync(folder)) if (file.endsWith(".idx")) rmSync(join(folder, file));
    await using second = await startSim({ data: folder });
    expect(await seen(second)).toEqual(before);
  });

  const damages: [string, (snapshot: string) => void, reason: RegExp, isKnown: boolean][] = [
    ["a label that is cut off", (it) => truncateSync(join(it, "snapshot.json"), 40), /snapshot\.json is/, false],
    [
      "a flipped digit in the label",
      (it) => rewriteLine(join(it, "snapshot.json"), 1, (text) => text.replace('"persons":1', '"persons":3')),
      /snapshot\.json is/,
      false,
    ],
    ["no people", (it) => rmSync(join(it, "people.ndjson")), /people\.ndjson is missing/, true],
    [
      "a flipped letter in the people",
      (it) => rewriteLine(join(it, "people.ndjson"), 1, (text) => text.replace("person", "parson")),
      /people\.ndjson was changed/,
      true,
    ],
    ["no documents", (it) => rmSync(join(it, "world.json")), /world\.json is missing/, true],
    [
      "a flipped letter in the documents",
      (it) => rewriteLine(join(it, "world.json"), 2, (text) => text.replace("version", "vermion")),
      /world\.json was changed/,
      true,
    ],
  ];
  test.each(damages)("damaged by %s: listed with the reason, not restored", async (_name, damage, reason, isKnown) => {
    await using first = await startSim({ data: folder });
    await live(first, "one");
    await first.snapshot("base");
    await first.snapshot("good");
    await first.close();
    damage(join(folder, "snapshots", "base"));
    await using sim = await startSim({ data: folder });
    const before = await seen(sim);
    const listed = await sim.snapshots.list();
    expect(listed.find(({ name }) => name === "base")).toMatchObject({
      persons: isKnown ? 1 : null,
      damaged: expect.stringMatching(reason),
    });
    expect(listed.find(({ name }) => name === "good")).toMatchObject({ persons: 1, damaged: null });
    await expect(sim.restore("base")).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/the snapshot "base" is damaged: /),
    });
    expect(await seen(sim)).toEqual(before);
    expect(await checkData(folder)).toEqual([
      { file: join(folder, "snapshots", "base"), line: null, detail: expect.stringMatching(reason) },
    ]);
    await sim.snapshots.delete("base");
    expect((await sim.snapshots.list()).map(({ name }) => name)).toEqual(["good"]);
  });

  test("says when the journal was taken away", async () => {
    await using first = await startSim({ data: folder });
    await live(first, "one");
    await first.snapshot("base");
    await first.close();
    rmSync(join(folder, "traffic.ndjson"));
    await using second = await startSim({ data: folder });
    expect(await second.restore("base")).toMatchObject({ has_events: false, hint: expect.any(String) });
    expect((await second.persons.list()).length).toBe(1);
  });
});
