import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PostHog } from "posthog-node";
import { beforeAll, describe, expect, test } from "vitest";
import type { Project } from "../../../src/index.ts";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { callFor, idBefore } from "../../../ui/copy/calls.ts";
import { curl, fetchCall, posthogJs, posthogNode, posthogPython } from "../../../ui/copy/send.ts";
import { meantProperties } from "../../../ui/copy/subject.ts";
import { newFolder } from "../../support/folder.ts";
import { programs, testWith } from "../../support/programs.ts";
import { hostileItems } from "./hostile.ts";
import { contextOf, sent, simOfFile } from "./sim.ts";
import { spokenItems } from "./spoken.ts";

const run = promisify(execFile);
const simNow = simOfFile();

let folder = "";
beforeAll(() => {
  folder = newFolder();
});

type Program = (...args: unknown[]) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => Program;

/** The program without its imports, which are given instead. */
const programOf = (text: string, ...names: string[]): Program =>
  new AsyncFunction(...names, text.replace(/^import .*;$/gm, ""));

const core = ({ event, distinct_id }: StoredEvent) => ({ event, distinct_id });

/** Everything that came but what the sim adds. */
function same(again: StoredEvent | undefined, first: StoredEvent): void {
  expect(again && core(again)).toEqual(core(first));
  expect(again?.properties).toEqual(first.properties);
  expect(again?.outcome).toBe(first.outcome);
}

async function lastOf(ph: Project, since: number): Promise<StoredEvent | undefined> {
  const [kept, dropped] = await Promise.all([ph.events.list({ since }), ph.events.dropped({ since })]);
  return [...kept, ...dropped][0];
}

describe.each(hostileItems)("%s", (_, item) => {
  testWith(programs.curl, "curl sends it again, as it was sent", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    const text = curl(first, contextOf(sim, ph, item));
    expect(text).not.toMatch(/(?:--json|--data-raw) '?@/);
    const { stdout } = await run("sh", ["-c", `${text} -sS`], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ status: "Ok" });
    same(await lastOf(ph, first.seq), first);
  });

  test("fetch sends it again, also where the item is gone", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    for (const context of [contextOf(sim, ph, item), contextOf(sim, ph)]) {
      const since = await ph.events.mark();
      await programOf(fetchCall(first, context))();
      same(await lastOf(ph, since), first);
    }
  });

  test("posthog-node captures it", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    await programOf(posthogNode(first, contextOf(sim, ph)), "PostHog")(PostHog);
    const again = await lastOf(ph, first.seq);
    expect(again && core(again)).toEqual(core(first));
    expect(again?.properties).toMatchObject(meantProperties(first));
  });

  test("posthog-js is given the same", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    const calls: unknown[][] = [];
    const posthog = {
      init: (...args: unknown[]) => calls.push(args),
      capture: (...args: unknown[]) => calls.push(args),
    };
    await programOf(posthogJs(first, contextOf(sim, ph)), "posthog")(posthog);
    expect(calls).toEqual([
      [ph.apiKey, { api_host: sim.url, bootstrap: { distinctID: first.distinct_id, isIdentifiedID: true } }],
      [first.event, meantProperties(first)],
    ]);
  });
});

/** Code without what only lays it out. */
const bare = (text: string): string => text.replace(/\s+/g, "").replace(/,(?=[)}])/g, "");

describe.each(spokenItems)("%s in the SDKs' own words", (_, { item, node, js, python }) => {
  test("posthog-node sends it again", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    const text = posthogNode(first, contextOf(sim, ph));
    expect(bare(text)).toContain(bare(`posthog.${node};`));
    await programOf(text, "PostHog")(PostHog);
    const again = await lastOf(ph, first.seq);
    expect(again && { ...core(again), properties: meantProperties(again) }).toMatchObject({
      ...core(first),
      properties: meantProperties(first),
    });
    expect(idBefore(again ?? first)).toBe(idBefore(first));
    expect(again?.person_id).toBe(first.person_id);
  });

  test("posthog-js and Python say it", async () => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    expect(bare(posthogJs(first, contextOf(sim, ph)))).toContain(bare(`posthog.${js};`));
    expect(bare(posthogPython(first, contextOf(sim, ph)))).toContain(bare(`posthog.${python}`));
  });
});

const odd: readonly (readonly [string, string, JsonObject, string])[] = [
  ["no alias", "$create_alias", { alias: 5 }, 'capture({ distinctId: "u1", event: "$create_alias"'],
  ["a key that is no text", "$groupidentify", { $group_type: "a", $group_key: 5 }, "capture({"],
  ["nothing set", "$set", {}, "capture({"],
  ["what has no place in it", "$create_alias", { alias: "u2", "a\n": 1 }, '// alias() has no place for "a\\n".\n'],
];

test.each(odd)("%s: it is said as it can be", async (_, event, properties, part) => {
  const sim = simNow();
  await using ph = await sim.project();
  const first = await sent(sim, ph, { event, distinct_id: "u1", properties });
  expect(posthogNode(first, contextOf(sim, ph))).toContain(part);
});

/** Stands for the SDK, which is not installed: it writes down what it is given. */
const pythonSdk = `import json
class Posthog:
    def __init__(self, key, host):
        self.key, self.host = key, host
    def __getattr__(self, call):
        return lambda **given: given and print(json.dumps(dict(key=self.key, host=self.host, call=call, **given)))
`;

testWith(programs.python, "Python's calls are given the same", async (python) => {
  const sim = simNow();
  await using ph = await sim.project();
  const events: StoredEvent[] = [];
  for (const item of [...hostileItems.map(([, it]) => it), ...spokenItems.map(([, it]) => it.item)])
    events.push(await sent(sim, ph, item));
  writeFileSync(join(folder, "posthog.py"), pythonSdk);
  const context = contextOf(sim, ph);
  for (const [i, event] of events.entries())
    writeFileSync(join(folder, `capture_${i}.py`), posthogPython(event, context));
  const files = events.map((_, i) => `capture_${i}`);
  const { stdout } = await run(python, ["-c", `import ${files.join(", ")}`], { cwd: folder });
  const given = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
  expect(given).toEqual(
    events.map((event) => {
      const { name, args } = callFor("python", event);
      return { key: ph.apiKey, host: sim.url, call: name, ...Object.fromEntries(args) };
    }),
  );
});

describe("what was wrong is wrong again", () => {
  test.each<[string, Json]>([
    ["no name", { distinct_id: "u1", properties: { a: 1 } }],
    ["no distinct_id", { event: "x" }],
    ["no object", "just text"],
  ])("%s", async (_, item) => {
    const sim = simNow();
    await using ph = await sim.project();
    const first = await sent(sim, ph, item);
    expect(first.outcome).toBe("dropped");
    await programOf(fetchCall(first, contextOf(sim, ph, item)))();
    expect((await lastOf(ph, first.seq))?.reason).toBe(first.reason);
  });
});

testWith(programs.curl, "5 MB are more than a command's word may hold: they go through a here document", async () => {
  const sim = simNow();
  await using ph = await sim.project();
  const item = { event: "big", distinct_id: "u1", properties: { text: "it's $x\n".repeat(600_000) } };
  const first = await sent(sim, ph, item);
  const file = join(folder, "big.sh");
  writeFileSync(file, curl(first, contextOf(sim, ph, item)));
  await run("sh", [file], { maxBuffer: 1_000_000 });
  const again = await lastOf(ph, first.seq);
  expect(again?.properties.text === item.properties.text).toBe(true);
});

test("uuid, time and keys are not sent again", async () => {
  const sim = simNow();
  await using ph = await sim.project();
  const item = {
    event: "x",
    distinct_id: "u1",
    uuid: "018f3c5e-7d3a-7b2c-9d1e-1234567890ab",
    timestamp: "2020-01-01T00:00:00Z",
    properties: { a: 1, token: "phc_other", $insert_id: "i" },
  };
  const first = await sent(sim, ph, item);
  const text = curl(first, contextOf(sim, ph, item));
  expect(text).toContain('"batch":[{"event":"x","distinct_id":"u1","properties":{"a":1}}]');
});
