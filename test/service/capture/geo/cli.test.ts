import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../../../src/index.ts";
import { kinds } from "../../../../src/kernel/command/options.ts";
import { newFolder } from "../../../support/folder.ts";
import { phxSim } from "../../../support/phx-sim.ts";
import { linkoping, mmdb } from "./mmdb.ts";

const folder = newFolder();
writeFileSync(join(folder, "city.mmdb"), mmdb({ records: { "89.160.20.0/24": linkoping } }));

test.each([
  ["city.mmdb", "/base/city.mmdb"],
  ["./deep/city.mmdb", "/base/deep/city.mmdb"],
  ["/else/city.mmdb", "/else/city.mmdb"],
  ["", undefined],
  ["a\0b", undefined],
])("a file's path: %j", (text, expected) => {
  expect(kinds.file.read(text, "/base")).toBe(expected);
});

const start = ["start", "--port", "0", "--memory", "--quiet", "--json"];

/** The city that an event from the file's network has. */
async function cityOf(url: string): Promise<unknown> {
  await fetch(`${url}/capture/`, {
    method: "POST",
    headers: { "x-forwarded-for": "89.160.20.129" },
    body: JSON.stringify({ api_key: "phc_sim_default", event: "e", distinct_id: "u" }),
  });
  const answer = (await (await fetch(`${url}/__sim/events`)).json()) as { events: StoredEvent[] };
  return answer.events[0]?.properties.$geoip_city_name;
}

test.each<[string, string[], Record<string, string>]>([
  ["--geoip", ["--geoip", "city.mmdb"], {}],
  ["PHX_SIM_GEOIP", [], { PHX_SIM_GEOIP: join(folder, "city.mmdb") }],
])("%s names a city database", async (_, args, env) => {
  const sim = phxSim([...start, ...args], { isOwn: true, cwd: folder, env });
  const [line] = await sim.says("stdout", /^\{.*\}$/m);
  expect(await cityOf(JSON.parse(line).url)).toBe("Linköping");
  expect((await sim.signal("SIGTERM")).code).toBe(143);
});

test("a file that is missing is reported, and nothing is started", async () => {
  const { code, stdout, stderr } = await phxSim([...start, "--geoip", "none.mmdb"], { isOwn: true, cwd: folder }).ended;
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toContain(`${join(folder, "none.mmdb")} does not exist; give a city database`);
});
