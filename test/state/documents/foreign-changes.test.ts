import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { checkData, startSim } from "../../../src/index.ts";
import { ways } from "../../damage/foreign-ways.ts";
import { endAll, newFolder, post, type Ready, runHere, startReady } from "../../support/phx-sim.ts";

afterEach(() => endAll());

const start = (data: string) => startReady(["--quiet", "--data", data], { cwd: data.replace(/[^/]+$/, "") });

const capture = async ({ url }: Pick<Ready, "url">, event: string): Promise<number> => {
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

const names = async (ready: Pick<Ready, "url">) => (await get<Events>(ready, "events")).events.map((it) => it.event);

async function personOf(ready: Ready, event: string): Promise<unknown> {
  const found = await get<{ persons: { properties: { last: unknown } }[] }>(ready, `persons?distinct_id=of-${event}`);
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
    const texts = damage.map(({ file, line, detail }) => `${file}${line === null ? "" : `:${line}`}: ${detail}`);
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

describe("only one sim writes to a folder", () => {
  test("run.json is deleted, and a second sim is faster than the first: the first one stores nothing more", async () => {
    const data = join(newFolder(), "data");
    const said: string[] = [];
    const first = await startSim({ data, onNotice: (text) => said.push(text) });
    expect(await capture(first, "a1")).toBe(200);
    rmSync(join(data, "run.json"));
    // in the same process: nothing of the first sim runs before the second has the folder
    const second = await startSim({ data });
    const stored = ["a1"];
    for (let n = 2; (await capture(first, `a${n}`)) === 200; n++) stored.push(`a${n}`);
    expect(await capture(first, "refused")).toBe(503);
    expect(await capture(second, "b1")).toBe(200);
    const answer = await fetch(`${first.url}/api/projects/1/dashboards/`, {
      method: "POST",
      headers: { authorization: "Bearer phx_sim_default", "content-type": "application/json" },
      body: '{"name":"mine"}',
    });
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 503,
      body: { type: "server_error", code: "storage_failed", detail: "transient error, please retry", attr: null },
    });
    const reason = `another phx-sim (pid ${process.pid} at ${second.url}) has the data folder ${data} now: this one stores nothing more; stop it`;
    expect(said.filter((it) => it.includes(`run.json: ${reason}`))).toHaveLength(1);
    expect((await get<Info>(first, "info")).damage.map((it) => it.detail)).toEqual([reason]);
    await first.close();
    expect(existsSync(join(data, "run.json"))).toBe(true);
    expect(await capture(second, "b2")).toBe(200);
    await second.close();
    const third = await startSim({ data });
    expect(await names(third)).toEqual([...stored, "b1", "b2"]);
    expect((await get<Info>(third, "info")).damage).toEqual([]);
    await third.close();
  });

  test("run.json is deleted: the second sim is refused once the first has written it again", async () => {
    const data = join(newFolder(), "data");
    const { ready } = await start(data);
    rmSync(join(data, "run.json"));
    expect(await capture(ready, "a1")).toBe(200);
    await expect.poll(() => existsSync(join(data, "run.json"))).toBe(true);
    const second = await runHere(["start", "--port", "0", "--data", data], { cwd: data });
    expect(second).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`in use by pid ${ready.pid} at ${ready.url}`),
    });
  });

  test.each([
    ["cut off", (text: string) => text.slice(0, text.indexOf("inspector_url"))],
    ["without an address", () => "\0".repeat(100)],
  ])("a run.json that cannot be read is resolved by asking the port: %s", async (_name, damage) => {
    const data = join(newFolder(), "data");
    const first = await startSim({ data });
    const file = join(data, "run.json");
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    // it is read before the first sim writes it again
    const port = Number(new URL(first.url).port);
    await expect(startSim({ data, port })).rejects.toThrow(
      `data folder ${data} is in use by pid ${process.pid} at ${first.url}`,
    );
    expect(await capture(first, "a1")).toBe(200);
    await first.close();
    writeFileSync(file, "half of a li");
    const again = await startSim({ data });
    expect(await names(again)).toEqual(["a1"]);
    await again.close();
  });
});

test("a world.json that was edited while the sim ran is kept beside the sim's own", async () => {
  const data = join(newFolder(), "data");
  const { sim, ready } = await start(data);
  const file = join(data, "world.json");
  while (!existsSync(file)) await turn();
  const edited = readFileSync(file, "utf8").replace("Welcome", "Edited");
  writeFileSync(file, edited);
  const headers = { authorization: "Bearer phx_sim_default", "content-type": "application/json" };
  const url = `${ready.url}/api/projects/1/dashboards/`;
  const { status } = await fetch(url, { method: "POST", headers, body: '{"name":"mine"}' });
  expect(status).toBe(201);
  await sim.says("stderr", /world\.json: another program changed this file .* the other file is .*\.replaced\n/);
  await sim.signal("SIGTERM");
  expect(readFileSync(`${file}.replaced`, "utf8")).toBe(edited);
  expect(readFileSync(file, "utf8")).toContain('"name":"mine"');
  expect(await checkData(data)).toEqual([]);
});
