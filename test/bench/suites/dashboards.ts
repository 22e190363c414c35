import { type Client, connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { launch } from "../server.ts";
import { figure, hold, median, pairedRange, pairedRatio, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

/** The key of the default scenario. */
const personalKey = "phx_sim_default";
const root = "/api/projects/1/dashboards/";
const sizes = [100, 10_000];

const personal = (path: string): string => `${path}${path.includes("?") ? "&" : "?"}personal_api_key=${personalKey}`;

/** As people fill them: a name, a description, tags, a few tiles. */
const dashboardOf = (i: number) => ({
  name: `Dashboard ${i}`,
  description: `What team ${i % 50} looks at on Mondays, and what they do about it`,
  tags: [`team-${i % 50}`, i % 2 === 0 ? "weekly" : "daily"],
  pinned: i % 200 === 0,
});
const tilesOf = (i: number) => ({
  tiles: [1, 2, 3].map((n) => ({
    text: { body: `## Note ${n} of dashboard ${i}\n\nNumbers are of last week.` },
    layouts: { sm: { x: (n - 1) * 4, y: 0, w: 4, h: 3 } },
  })),
});

/** The ids of the dashboards that a world of the size holds in the end. */
async function fill(client: Client, size: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 1; i <= size; i++) {
    const made = await client.call("POST", personal(root), JSON.stringify(dashboardOf(i)));
    if (made.status !== 201) throw new Error(`POST ${root}: ${made.status} ${made.body.slice(0, 300)}`);
    const { id } = JSON.parse(made.body) as { id: number };
    await client.json("PATCH", personal(`${root}${id}/`), JSON.stringify(tilesOf(i)));
    ids.push(id);
  }
  return ids;
}

interface Case {
  name: string;
  /** The most that 10,000 dashboards may cost, in terms of 100. */
  bar: number;
  /** Asks once and checks the answer. @returns ms */
  ask(client: Client, ids: readonly number[], k: number): Promise<number>;
}

const pick = (ids: readonly number[], k: number): number => ids[(k * 7919) % ids.length] ?? 0;

async function get(client: Client, path: string, isRight: (body: string) => boolean): Promise<number> {
  const answer = await client.call("GET", personal(path));
  if (answer.status !== 200 || !isRight(answer.body)) {
    throw new Error(`GET ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  }
  return answer.ms;
}

const resultsOf = (body: string): number => (JSON.parse(body) as { results: object[] }).results.length;

const cases: readonly Case[] = [
  {
    name: "list, first 100",
    bar: 1.5,
    ask: (client) => get(client, `${root}?limit=100`, (body) => resultsOf(body) === 100),
  },
  {
    name: "filter by tag, first 2",
    bar: 3,
    ask: (client, _, k) => get(client, `${root}?tags=team-${k % 50}&limit=2`, (body) => resultsOf(body) === 2),
  },
  {
    name: "retrieve",
    bar: 1.5,
    ask: (client, ids, k) => get(client, `${root}${pick(ids, k)}/`, (body) => body.includes(`"id":${pick(ids, k)},`)),
  },
  {
    name: "patch",
    bar: 1.5,
    async ask(client, ids, k) {
      const description = `changed in turn ${k}`;
      const path = personal(`${root}${pick(ids, k)}/`);
      const answer = await client.call("PATCH", path, JSON.stringify({ description }));
      if (answer.status !== 200 || !answer.body.includes(description)) {
        throw new Error(`PATCH ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
      }
      return answer.ms;
    },
  },
  {
    name: "list after a patch, first 100",
    bar: 3,
    async ask(client, ids, k) {
      const path = personal(`${root}${pick(ids, k)}/`);
      await client.json("PATCH", path, JSON.stringify({ name: `Dashboard ${k} again` }));
      return get(client, `${root}?limit=100`, (body) => resultsOf(body) === 100);
    },
  },
];

interface World {
  size: number;
  folder: string;
  client: Client;
  ids: number[];
  stop(): Promise<void>;
}

async function open(size: number): Promise<World> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  const client = connect(server);
  const ids = await fill(client, size);
  return {
    size,
    folder,
    client,
    ids,
    async stop() {
      client.close();
      await server.stop();
    },
  };
}

/** p50 per round, per world: the worlds take turns. */
async function measure(one: Case, worlds: readonly World[], { pace }: Bench): Promise<number[][]> {
  const rounds = worlds.map((): number[] => []);
  for (let round = 0; round < pace.rounds; round++) {
    for (const [i, world] of worlds.entries()) {
      const times: number[] = [];
      for (let k = 0; k < pace.calls / 10; k++) {
        times.push(await one.ask(world.client, world.ids, round * pace.calls + k));
      }
      rounds[i]?.push(median(times));
    }
  }
  return rounds;
}

/** From spawn to the first answered call, on a folder that was closed in good order. @returns ms */
async function startOnce(folder: string, path: string): Promise<number> {
  const startedAt = performance.now();
  const server = await launch("sim", folder, false);
  const client = connect(server);
  const answer = await client.call("GET", path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  client.close();
  await server.stop();
  return answer.at - startedAt;
}

/** world.json is parsed as a whole before the sim is ready: about 100 ms for 10,000 dashboards, which the first list no longer takes. */
const firsts = [
  { name: "start to ready", path: "/_readiness", bar: 2 },
  { name: "start to the first dashboard list", path: personal(`${root}?limit=10`), bar: 2 },
] as const;

export const suite: Suite = {
  name: "dashboards",
  title: "Management API: a world of 10,000 dashboards to one of 100",
  async run(bench) {
    const worlds: World[] = [];
    for (const size of sizes.map((it) => Math.min(it, bench.pace.most))) {
      bench.progress(`making ${size.toLocaleString("en-US")} dashboards`);
      worlds.push(await open(size));
    }
    const measured = [];
    for (const one of cases) {
      bench.progress(one.name);
      const [small = [], big = []] = await measure(one, worlds, bench);
      measured.push({ ...one, small, big });
    }
    for (const world of worlds) await world.stop();
    for (const { name, path, bar } of firsts) {
      bench.progress(name);
      const [small, big]: [number[], number[]] = [[], []];
      for (let round = 0; round < bench.pace.starts; round++) {
        for (const [i, { folder }] of worlds.entries()) (i === 0 ? small : big).push(await startOnce(folder, path));
      }
      measured.push({ name, bar, small, big });
    }
    for (const { folder } of worlds) removeFolder(folder);
    return {
      tables: [
        {
          title: "",
          columns: ["p50 ms", "100", "10,000", "ratio", "range", "worst round"],
          rows: measured.map(({ name, small, big }) => [
            name,
            figure(median(small)),
            figure(median(big)),
            figure(pairedRatio(big, small)),
            pairedRange(big, small),
            figure(quantile(big, 1)),
          ]),
        },
      ],
      verdicts: measured.map(({ name, small, big, bar }) =>
        hold(`${name}, 10,000 dashboards to 100`, pairedRatio(big, small), "atMost", bar),
      ),
      notes: ["Over HTTP on one connection, each answer checked; a patch is on disk when it is answered."],
    };
  },
};
