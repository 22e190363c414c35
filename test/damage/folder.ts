import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type Sim, startSim } from "../../src/index.ts";

const personalKey = "phx_sim_default";
const projectKey = "phc_sim_default";

export const newFolder = (): string => mkdtempSync(join(tmpdir(), "phx-damage-"));

/** The files of a data folder, by their paths in it; not the locator, which a killed sim leaves. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile() && !/^(?:run\.json|\.gitignore)/.test(it.name))
    .map((it) => relative(folder, join(it.parentPath, it.name)))
    .sort();

export const linesIn = (file: string): string[] => readFileSync(file, "latin1").split("\n").slice(0, -1);

export async function ask(
  sim: Pick<Sim, "handle">,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: string }> {
  const answer = await sim.handle(
    new Request(`http://sim${path}`, {
      method,
      headers: { authorization: `Bearer ${personalKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: answer.status, body: await answer.text() };
}

const item = (event: string, distinct_id: string, properties: object = {}) => ({ event, distinct_id, properties });

export const capture = (sim: Pick<Sim, "handle">, ...items: object[]) =>
  ask(sim, "POST", "/batch/", { api_key: projectKey, batch: items });

/** Single events, batches, identified persons, groups, refused requests, documents, a snapshot, cleared events. */
async function fill(sim: Sim, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) {
    const user = `user-${n % 40}`;
    await capture(
      sim,
      item(`event-${n % 5}`, user, { $set: { email: `${user}@example.com`, n, text: "ü€😀".repeat(400) } }),
    );
    if (n % 4 === 0)
      await capture(
        sim,
        item("$identify", `named-${n}`, { $anon_distinct_id: `anon-${n}` }),
        item("seen", `named-${n}`, { $groups: { company: `company-${n % 3}` } }),
        item("$groupidentify", user, { $group_type: "company", $group_key: `company-${n % 3}`, $group_set: { n } }),
      );
    if (n % 7 === 0) await ask(sim, "POST", "/batch/", { api_key: "phc_unknown", batch: [item("lost", user)] });
    if (n % 9 === 0) await ask(sim, "POST", "/api/projects/1/dashboards/", { name: `dashboard ${n}` });
  }
}

interface Templates {
  /** Folders by how they were left. */
  readonly [name: string]: string;
}

/** Data folders as a regular end leaves them, as a crash does, and as a crash of a second run does, and with older requests let go. */
export async function makeFolders(): Promise<Templates> {
  const working = newFolder();
  const [killed, closed, continued, trimmed] = [newFolder(), newFolder(), newFolder(), newFolder()];
  // This process holds the lock of the folder that it copies.
  const copy = (to: string) => cpSync(working, to, { recursive: true, filter: (it) => !it.endsWith("run.json") });
  const first = await startSim({ data: working });
  await fill(first, 0, 20);
  const other = await first.project();
  await ask(first, "POST", "/batch/", { api_key: other.apiKey, batch: [item("hidden", "h")] });
  await ask(first, "DELETE", `/__sim/events?project=${other.id}`);
  await first.snapshot("one");
  await fill(first, 20, 40);
  await first.snapshot("two");
  await ask(first, "POST", "/__sim/clock/advance", { by: "90m" });
  copy(killed);
  await first.close();
  copy(closed);
  const second = await startSim({ data: working });
  await fill(second, 40, 50);
  await second.snapshot("three");
  copy(continued);
  await second.close();
  const third = await startSim({ data: working, keep: "1h" });
  await third.clock.advance("2h");
  await fill(third, 50, 60);
  const evicted = async () => ((await third.info()).counts as { evicted_requests: number }).evicted_requests;
  while ((await evicted()) === 0) await turn();
  await third.close();
  copy(trimmed);
  return { killed, closed, continued, trimmed };
}
