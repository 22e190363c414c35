import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startReady } from "../../support/phx-sim.ts";

const folder = newFolder();
const data = join(folder, "data");
const scenario = join(folder, "two.json");
writeFileSync(
  scenario,
  JSON.stringify({
    version: 1,
    users: [{ email: "ada@example.test" }, { email: "eve@example.test" }],
    organizations: [
      {
        name: "Acme",
        members: { "ada@example.test": "owner" },
        projects: [{ id: 1, name: "Acme web", api_key: "phc_acme", dashboards: [{ id: 1, name: "acme shared" }] }],
      },
      {
        name: "Globex",
        members: { "eve@example.test": "owner" },
        projects: [
          { id: 2, name: "Globex web", api_key: "phc_globex", dashboards: [{ id: 2, name: "globex shared" }] },
        ],
      },
    ],
    personal_api_keys: [
      { key: "phx_acme_writer", user: "ada@example.test", scopes: ["dashboard:write"] },
      { key: "phx_globex_reader", user: "eve@example.test", scopes: ["dashboard:read"] },
      { key: "phx_globex_writer", user: "eve@example.test", scopes: ["dashboard:write"] },
    ],
  }),
);

const sides = [
  { name: "acme", project: 1, shared: 1, key: "phx_acme_writer", reader: "phx_acme_writer" },
  { name: "globex", project: 2, shared: 2, key: "phx_globex_writer", reader: "phx_globex_reader" },
] as const;
type Side = (typeof sides)[number];

interface Dashboard {
  id: number;
  name: string;
  description: string;
  tiles: { text: { body: string } }[];
}

const start = () => startReady(["--quiet", "--data", data, "--scenario", scenario], { cwd: folder, isOwn: true });

/** One call; undefined when the sim went away. */
async function call(url: string, method: string, path: string, key: string, body?: object) {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  } catch {
    return undefined;
  }
}

/** The side's dashboard, as its reader sees it. */
async function dashboard(url: string, side: Side, id: number | undefined): Promise<Dashboard> {
  const found = await call(url, "GET", `${root(side)}${id}/`, side.reader);
  if (found?.status !== 200) throw new Error(`dashboard ${id} of ${side.name}: ${found?.status}`);
  return found.json as Dashboard;
}

/** What one client was promised is done. */
interface Client {
  side: Side;
  name: string;
  id?: number;
  /** Turns whose change was answered. */
  answered: number;
  noted: number[];
}

const root = (side: Side) => `/api/projects/${side.project}/dashboards/`;

/** Makes a dashboard, then in each turn changes it, adds a note to the side's shared one, and looks around. */
async function work(url: string, client: Client, onTurn: () => void): Promise<void> {
  const { side, name } = client;
  const made = await call(url, "POST", root(side), side.key, { name });
  if (made?.status !== 201) return;
  client.id = (made.json as Dashboard).id;
  for (let turn = 1; ; turn++) {
    const changed = await call(url, "PATCH", `${root(side)}${client.id}/`, side.key, { description: `turn ${turn}` });
    if (!changed) return;
    expect(changed).toMatchObject({ status: 200, json: { name, description: `turn ${turn}` } });
    client.answered = turn;
    const tiles = [{ text: { body: `${name} ${turn}` } }];
    const noted = turn <= 5 ? await call(url, "PATCH", `${root(side)}${side.shared}/`, side.key, { tiles }) : undefined;
    if (noted?.status === 200) client.noted.push(turn);
    const list = await call(url, "GET", `${root(side)}?limit=1000`, side.reader);
    if (!list) return;
    const names = (list.json as { results: Dashboard[] }).results.map((it) => it.name);
    expect(names.every((it) => it.startsWith(side.name))).toBe(true);
    expect(names).toContain(name);
    onTurn();
  }
}

test("50 clients of two organizations, kill -9: no lost update, no leak, valid files", async () => {
  const first = await start();
  const clients = Array.from({ length: 50 }, (_, i): Client => {
    const side = sides[i % 2 === 0 ? 0 : 1];
    return { side, name: `${side.name} ${i}`, answered: 0, noted: [] };
  });
  let turns = 0;
  const onTurn = () => {
    if (++turns === 1000) first.sim.child.kill("SIGKILL");
  };
  const [acme, globex] = sides;
  const forbidden = await Promise.all([
    call(first.ready.url, "GET", root(globex), acme.key),
    call(first.ready.url, "PATCH", `${root(globex)}2/`, globex.reader, { name: "x" }),
    call(first.ready.url, "GET", `${root(acme)}2/`, acme.key),
    ...clients.map((client) => work(first.ready.url, client, onTurn)),
  ]);
  expect(forbidden.slice(0, 3)).toMatchObject([{ status: 403 }, { status: 403 }, { status: 404 }]);
  await first.sim.ended;
  expect(turns).toBeGreaterThanOrEqual(1000);

  expect(() => JSON.parse(readFileSync(join(data, "world.json"), "utf8"))).not.toThrow();
  const changes = join(data, "world.changes.ndjson");
  const lines = existsSync(changes) ? readFileSync(changes, "utf8").split("\n").slice(0, -1) : [];
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();

  const second = await start();
  for (const { side, name, id, answered, noted } of clients) {
    const own = await dashboard(second.ready.url, side, id);
    expect(own.name).toBe(name);
    // The change that was on its way when the sim was killed may be there as well.
    expect([`turn ${answered}`, `turn ${answered + 1}`]).toContain(own.description);
    const shared = await dashboard(second.ready.url, side, side.shared);
    const notes = shared.tiles.map((it) => it.text.body);
    for (const turn of noted) expect(notes).toContain(`${name} ${turn}`);
    expect(notes.every((note) => note.startsWith(side.name))).toBe(true);
  }
  await second.sim.signal("SIGTERM");
  expect(existsSync(changes) ? readFileSync(changes, "utf8") : "").toBe("");
});
