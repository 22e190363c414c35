import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { isObject, type Json } from "../../../src/kernel/base/json.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { parseJson } from "../../../src/service/capture/json-text.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

const uuidOf = (index: number): string => `0190aaaa-0000-7000-8000-${String(index).padStart(12, "0")}`;
const count = 20_000;

const batchOf = (project: { apiKey: string }): string =>
  JSON.stringify({
    api_key: project.apiKey,
    batch: Array.from({ length: count }, (_, i) => ({
      event: "imported",
      uuid: uuidOf(i),
      distinct_id: `user ${i % 50}`,
      properties: { i, $set: { last: i } },
    })),
  });

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  sim.handle(
    new Request(`http://sim${path}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    }),
  );

/** Turns of the event loop until the promise is settled. */
async function turnsUntil<T>(promise: Promise<T>): Promise<{ turns: number; value: T }> {
  let [turns, isOver] = [0, false];
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    return { value: await promise, turns };
  } finally {
    isOver = true;
  }
}

describe("a large batch", () => {
  test.each<[string, (text: string) => [string | Buffer, Record<string, string>]]>([
    ["as JSON", (text) => [text, {}]],
    ["packed with gzip", (text) => [gzipSync(text), { "content-encoding": "gzip" }]],
  ])("%s leaves turns to other calls, and is one request in the journal", async (_, encode) => {
    await using project = await sim.project();
    const { turns, value } = await turnsUntil(post("/batch/", ...encode(batchOf(project))));
    expect(value.status).toBe(200);
    // Three passes over the items, and at most 6,400 items in a slice.
    expect(turns).toBeGreaterThanOrEqual(3 * Math.floor(count / 6_400));
    const [request] = await project.requests.list();
    expect(request).toMatchObject({ events: count, dropped: 0, outcome: "answered" });
  });

  test("what comes meanwhile is answered first; its own events show together", async () => {
    await using project = await sim.project();
    const seen = new Set<number>();
    const counts = { isOver: false };
    const watch = async () => {
      while (!counts.isOver) {
        seen.add((await sim.events.list({ project: project.id, limit: 1_000 })).length);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const order: string[] = [];
    const large = post("/batch/", batchOf(project)).then(() => order.push("large"));
    const watching = watch();
    const body = JSON.stringify({ api_key: project.apiKey, event: "small", distinct_id: "u" });
    await post("/capture/", body).then(() => order.push("small"));
    await large;
    counts.isOver = true;
    await watching;
    expect(order).toEqual(["small", "large"]);
    expect([...seen].every((shown) => [0, 1, 1_000].includes(shown))).toBe(true);
  });

  test("an event that repeats one of a batch that is still being handled is dropped", async () => {
    await using project = await sim.project();
    const batch = batchOf(project);
    await Promise.all([post("/batch/", batch), post("/batch/", batch)]);
    const dropped = (await project.requests.list()).map((it) => it.dropped);
    expect(dropped.reduce((a, b) => a + b)).toBe(count);
    expect((await sim.events.list({ project: project.id, outcome: "dropped", limit: 1 }))[0]?.reason).toBe(
      "duplicate_event_uuid",
    );
  });

  test("a page of events ends after 20,000 that were looked at; the client goes on", async () => {
    await using project = await sim.project();
    await Promise.all([post("/batch/", batchOf(project)), post("/batch/", batchOf(project))]);
    const query = new URLSearchParams({ project: String(project.id), filter: "prop.i:19999", limit: "5" });
    const get = new Request(`http://sim/__sim/events?${query}`);
    const page: unknown = await (await sim.handle(get)).json();
    expect(page).toMatchObject({ more: true });
    const { length } = await sim.events.list({ project: project.id, filter: "prop.i:19999", order: "desc" });
    expect(length).toBe(2);
  });

  test("persons have what the last of their events set", async () => {
    await using project = await sim.project();
    await post("/batch/", batchOf(project));
    const person = await project.persons.get("user 49");
    expect(person?.properties).toMatchObject({ last: count - 1 });
  });
});

const pad = "x".repeat(700);
const items = Array.from({ length: 1_000 }, (_, i) => ({ event: "e", i, list: [{ i }, [i]], pad }));
const inner = JSON.stringify(items).slice(1, -1);

const parse = (text: string) => atOnce(parseJson(Buffer.from(text)));

describe("a large body is read in parts to the same value", () => {
  test.each<[string, string]>([
    ["a list", `[${inner}]`],
    ["a batch", `{"api_key":"k","batch":[${inner}],"sent_at":"now"}`],
    ["a batch with space around it", ` { "batch" : [ ${inner} ] } `],
    ["line breaks between items", `{"batch":[${inner.replaceAll("},{", "},\n  {")}]}`],
    ["escapes in strings", `{"batch":[${inner},"\\"],[\\\\",{"a":"}{]["}]}`],
    ["an escaped field beside the batch", `{"note":"\\u00e9\\"","batch":[${inner}]}`],
    ["a list within another field", `{"other":[[1],{"batch":[2]}],"batch":[${inner}]}`],
    ["two batches: the last counts", `{"batch":[${inner}],"batch":[1]}`],
    ["a batch that a later value hides", `{"batch":[${inner}],"batch":5}`],
    ["a batch that an escaped key hides", `{"batch":[${inner}],"b\\u0061tch":[]}`],
    ["a field named __proto__", `{"__proto__":{"x":1},"batch":[${inner},{"__proto__":1}]}`],
    ["no batch", `{"event":"e","properties":{"list":[${inner}]}}`],
    ["one text", JSON.stringify("y".repeat(500_000))],
    ["an empty batch beside a large text", `{"batch":[],"pad":"${"z".repeat(300_000)}"}`],
  ])("%s", (_, text) => {
    const read = parse(text);
    expect(JSON.stringify(read.value)).toBe(JSON.stringify(JSON.parse(text)));
    expect(JSON.parse(read.text)).toEqual(read.value);
    expect(read.text).not.toContain("\n");
  });

  test("keys are masked in the text and in the value, wherever they are", () => {
    const secret = "phx_0123456789";
    const key = { event: "leak", properties: { key: secret, escaped: "" } };
    const leak = JSON.stringify(key).replace('"escaped":""', '"escaped":"\\u0070hx_0123456789"');
    const { text, value, redacted, bytes } = parse(`{"extra":"${secret}","batch":[${inner},${leak},${inner}]}`);
    expect(redacted).toBe(true);
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toEqual(value);
    expect(bytes?.toString()).toBe(text);
    const batch: Json | undefined = isObject(value) ? value.batch : undefined;
    expect(Array.isArray(batch) && batch[1_000]).toEqual({
      event: "leak",
      properties: { key: "phx_***", escaped: "phx_***" },
    });
  });

  const depth = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test.each<[string, string]>([
    ["a comma too many at the end", `{"batch":[${inner},]}`],
    ["a comma too many at the start", `[${" ".repeat(200_000)},${inner}]`],
    ["a broken item", `{"batch":[${inner},{"a":},${inner}]}`],
    ["an unfinished string", `{"batch":[${inner},"abc]}`],
    ["no end", `{"batch":[${inner}`],
    ["more after the end", `[${inner}] []`],
    ["too deep", `{"batch":[${inner},${depth(200)}]}`],
    ["too deep beside the batch", `{"a":${depth(200)},"batch":[${inner}]}`],
  ])("%s is refused", (_, text) => {
    expect(() => parse(text)).toThrow(SimError);
    expect(() => parse(text)).toThrow(/failed to parse request/);
  });
});

describe("a body of more objects and lists than are read", () => {
  const many = `[${"{},".repeat(1_000_001)}{}]`;
  const bodies: [name: string, path: string, body: () => string, status: number, headers?: Record<string, string>][] = [
    [
      "an event",
      "/capture/",
      () => `{"api_key":"${sim.apiKey}","event":"e","distinct_id":"u","properties":{"a":${many}}}`,
      413,
    ],
    ["a batch", "/batch/", () => `{"api_key":"${sim.apiKey}","batch":${many}}`, 413],
    [
      "flags",
      "/flags/?v=2",
      () => `{"token":"${sim.apiKey}","distinct_id":"u","person_properties":{"a":${many}}}`,
      413,
    ],
    ["the control API", "/__sim/events/wait", () => `{"match":${many}}`, 400],
    [
      "the management API",
      "/api/projects/1/dashboards/",
      () => `{"name":${many}}`,
      400,
      { authorization: "Bearer phx_sim_default" },
    ],
  ];
  test.each(bodies)("%s", async (_name, path, body, status, headers = {}) => {
    const response = await post(path, body(), headers);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain("00,000 objects and lists");
  });

  test("an event of many is kept as it was sent", async () => {
    await using project = await sim.project();
    const list = Array.from({ length: 60_000 }, (_, i) => ({ i, more: [{}] }));
    const body = { api_key: project.apiKey, event: "large", distinct_id: "u", properties: { list, "": "ü" } };
    const { turns, value } = await turnsUntil(post("/capture/", JSON.stringify(body)));
    expect(value.status).toBe(200);
    expect(turns).toBeGreaterThan(3);
    const [event] = await project.events.list();
    expect(event?.properties).toMatchObject({ list, "": "ü" });
  });
});
