import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { checkData } from "../../src/index.ts";
import { ways } from "../damage/foreign-ways.ts";
import { endAll, newFolder, post, type Ready, removeFolders, startReady } from "./phx-sim.ts";

afterEach(() => endAll());
afterAll(() => removeFolders());

const start = (data: string) => startReady(["--quiet", "--data", data], { cwd: data.replace(/[^/]+$/, "") });

const capture = async ({ url }: Ready, event: string): Promise<number> => {
  const properties = { $set: { last: event } };
  const body = { api_key: "phc_sim_default", event, distinct_id: `of-${event}`, properties };
  return (await post(`${url}/capture/`, body)).status;
};

/** Captures as SDKs do: a 503 is tried again. */
async function captureAgain(ready: Ready, event: string): Promise<void> {
  for (let status = 503; status !== 200; ) {
    status = await capture(ready, event);
    expect([200, 503]).toContain(status);
  }
}

const get = async <T>({ url }: Pick<Ready, "url">, path: string): Promise<T> =>
  (await (await fetch(`${url}/__sim/${path}`)).json()) as T;

interface Info {
  damage: { file: string; line: number | null; detail: string }[];
}
interface Events {
  events: { event: string }[];
}

const names = async (ready: Ready) => (await get<Events>(ready, "events")).events.map((it) => it.event);

async function personOf(ready: Ready, event: string): Promise<unknown> {
  const found = await get<{ persons: { properties: { last: unknown } }[] }>(
    ready,
    `persons?distinct_id=of-${event}`,
  );
  return found.persons[0]?.properties.last;
}

describe("what another program does to the folder of a running sim is noticed, and costs no event", () => {
  test.each(ways)("$name", async ({ act, says, isLossy }) => {
    const data = join(newFolder(), "data");
    const { sim, ready } = await start(data);
    const before = ["a1", "a2", "a3"];
    for (const it of before) expect(await capture(ready, it)).toBe(200);
    // written a moment after the start
    while (!existsSync(join(data, "world.json"))) await turn();
    act(data);
    const after = ["b1", "b2", "b3"];
    for (const it of after) await captureAgain(ready, it);

    // found at once, and said once
    const found = await names(ready);
    expect(found.filter((it) => it.startsWith("b"))).toEqual(after);
    if (!isLossy) expect(found).toEqual([...before, ...after]);
    expect(await personOf(ready, "b3")).toBe("b3");
    await sim.says("stderr", says);
    const { damage } = await get<Info>(ready, "info");
    const texts = damage.map(
      ({ file, line, detail }) => `${file}${line === null ? "" : `:${line}`}: ${detail}`,
    );
    if (says.source !== "(?:)") expect(texts.join("\n")).toMatch(says);
    const { stderr } = await sim.signal("SIGTERM");
    for (const text of texts) expect(stderr.split(text)).toHaveLength(2);
    expect(existsSync(join(data, "run.json"))).toBe(false);

    const again = await start(data);
    expect(await names(again.ready)).toEqual(found);
    for (const it of after) expect(await personOf(again.ready, it)).toBe(it);
    await again.sim.signal("SIGTERM");
    if (isLossy) return;
    const details = (await checkData(data)).map((it) => it.detail);
    expect(details.filter((it) => /(?:request|event)s? \d.* lost/.test(it))).toEqual([]);
  });
});
