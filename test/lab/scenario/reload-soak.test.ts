import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";

const folder = newFolder();

/** `RELOADS=1000` for the soak; a few in the usual run. */
const reloads = Number(process.env.RELOADS ?? 20);

const warmUp = 5;
const sampled = Math.max(5, reloads / 10);

const scenarioOf = (n: number): string =>
  JSON.stringify({
    version: 1,
    organizations: [
      {
        name: "Org",
        projects: [
          {
            name: "App",
            api_key: "phc_app",
            flags: { turn: { variants: { [`turn-${n}`]: 100 } } },
            dashboards: Array.from({ length: 50 }, (_, i) => ({ name: `Dashboard ${i} of ${n}` })),
          },
        ],
      },
    ],
    personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
  });

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Bytes in use once nothing is left to collect. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test(`${reloads} reloads under traffic: no request fails, memory stays flat`, async () => {
  const file = join(folder, "soak.json");
  writeFileSync(file, scenarioOf(0));
  let wake = () => {};
  let inForce = 0;
  await using sim = await startSim({
    scenario: file,
    // On disk, so that captured events do not count.
    data: join(folder, "data"),
    onChange: "merge",
    onNotice(text) {
      if (text.includes("is in force")) inForce++;
      wake();
    },
  });
  let isOver = false;
  const statuses = new Map<string, number>();
  const send = async (path: string, body: object) => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const { status } = await sim.handle(new Request(sim.url + path, init));
    statuses.set(`${path} ${status}`, (statuses.get(`${path} ${status}`) ?? 0) + 1);
  };
  const traffic = async () => {
    while (!isOver) {
      await send("/capture/", { api_key: "phc_app", event: "e", distinct_id: "u" });
      await send("/flags/?v=2", { api_key: "phc_app", distinct_id: "u" });
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const running = [traffic(), traffic()];
  const heaps: number[] = [];
  for (let n = 1; n <= reloads; n++) {
    const before = inForce;
    writeFileSync(file, scenarioOf(n));
    while (inForce === before) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (n >= warmUp && n % sampled === 0) heaps.push(usedHeap());
  }
  isOver = true;
  await Promise.all(running);
  expect([...statuses.keys()].sort()).toEqual(["/capture/ 200", "/flags/?v=2 200"]);
  expect((await sim.flags.explain("turn", { distinctId: "u" })).value).toBe(`turn-${reloads}`);
  const [first = 0] = heaps;
  expect(heaps.length).toBeGreaterThan(1);
  // A reload that left its world behind would add about 100 kB each time.
  expect(heaps.at(-1)).toBeLessThan(first + 30 * 1024 * 1024);
}, 1_200_000);
