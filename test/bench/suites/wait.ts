import { setTimeout as pause } from "node:timers/promises";
import { type Client, connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { captureBody } from "../payload.ts";
import { launch, type Server } from "../server.ts";
import { figure, hold, median, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

/** How many calls wait at the same time, each for an event of its own and on a connection of its own. */
const crowds = [1, 100, 1_000];
/** Not measured: until everything is compiled. */
const warmups = 20;

interface Waited {
  events: { event: string }[];
}

const named = (event: string): string => JSON.stringify({ match: { event }, timeout_ms: 60_000 });
const byProperty = (plan: string): string =>
  JSON.stringify({ match: { properties: { plan: { "@regex": `^${plan}$` } } }, timeout_ms: 60_000 });

/** What the waits ask for: a name, which the index knows, or something that each event must be looked at for. */
const kinds = { "by name": named, "by a property's pattern": byProperty } as const;
type Kind = keyof typeof kinds;

/** The event that one of them waits for. */
const bodies: Record<Kind, (key: string, awaited: string) => Buffer | string> = {
  "by name": (key, event) => captureBody(key, { event, distinct_id: "waiter" }),
  "by a property's pattern": (api_key, plan) =>
    JSON.stringify({ api_key, event: "awaited", distinct_id: "waiter", properties: { plan } }),
};

/** @throws Error when the wait was answered with anything but its event. */
function check(awaited: string, kind: Kind, status: number, body: string): void {
  const found = status === 200 ? (JSON.parse(body) as Waited).events : [];
  const wanted = kind === "by name" ? awaited : "awaited";
  if (found.length !== 1 || found[0]?.event !== wanted)
    throw new Error(`wait for ${awaited}: ${status} ${body.slice(0, 300)}`);
}

/** One of the crowd is chosen, its event is sent. @returns ms from the event's answer to the wait's return */
async function once(
  crowd: { waiter: Client; awaited: string; wait: ReturnType<Client["call"]> }[],
  sender: Client,
  key: string,
  kind: Kind,
  k: number,
): Promise<number> {
  const one = crowd[(k * 7_919) % crowd.length];
  if (!one) throw new Error("no one waits");
  const sent = await sender.call("POST", "/capture/", bodies[kind](key, one.awaited));
  const returned = await one.wait;
  if (sent.status !== 200) throw new Error(`capture: ${sent.status}`);
  check(one.awaited, kind, returned.status, returned.body);
  one.awaited = `awaited-${k}-again`;
  one.wait = one.waiter.call("POST", "/__sim/events/wait", kinds[kind](one.awaited));
  await pause(5);
  return returned.at - sent.at;
}

async function measure(server: Server, kind: Kind, size: number, calls: number): Promise<number[]> {
  const sender = connect(server);
  const crowd = Array.from({ length: size }, (_, i) => {
    const waiter = connect(server);
    const awaited = `awaited-by-${i}`;
    return { waiter, awaited, wait: waiter.call("POST", "/__sim/events/wait", kinds[kind](awaited)) };
  });
  await pause(200 + size);
  const times: number[] = [];
  for (let k = 0; k < warmups + calls; k++) {
    const ms = await once(crowd, sender, server.key, kind, k);
    if (k >= warmups) times.push(ms);
  }
  for (const { wait, waiter } of crowd) {
    wait.catch(() => {});
    waiter.close();
  }
  sender.close();
  return times;
}

async function fresh(kind: Kind, size: number, { pace }: Bench): Promise<number[]> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  try {
    return await measure(server, kind, size, pace.calls);
  } finally {
    await server.kill();
    removeFolder(folder);
  }
}

/** This many waits for events that do not come, among as many kept events. @returns ms until all have their report */
async function failing(count: number): Promise<number> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  const clients = Array.from({ length: count }, () => connect(server));
  try {
    const batch = Array.from({ length: count }, (_, i) => ({ event: `kept-${i % 20}`, distinct_id: `u${i}` }));
    await clients[0]?.call("POST", "/batch/", JSON.stringify({ api_key: server.key, batch }));
    const timeout_ms = 50;
    const began = performance.now();
    const answers = await Promise.all(
      clients.map((it, i) =>
        it.call(
          "POST",
          "/__sim/events/wait",
          JSON.stringify({ match: { event: `missing-${i}`, properties: { plan: "pro" } }, timeout_ms }),
        ),
      ),
    );
    const ms = performance.now() - began - timeout_ms;
    const wrong = answers.find(({ status }) => status !== 409);
    if (wrong) throw new Error(`a wait that must fail: ${wrong.status}`);
    return ms;
  } finally {
    for (const it of clients) it.close();
    await server.kill();
    removeFolder(folder);
  }
}

export const suite: Suite = {
  name: "wait",
  title: "POST /__sim/events/wait: from the event's own answer to the waiting call's return",
  async run(bench) {
    const rows: string[][] = [];
    const verdicts = [];
    for (const kind of ["by name", "by a property's pattern"] as const) {
      for (const size of crowds.filter((it) => it <= bench.pace.most)) {
        bench.progress(`${size} waiting ${kind}`);
        const times = await fresh(kind, size, bench);
        const [p50, p99, max] = [median(times), quantile(times, 0.99), quantile(times, 1)];
        rows.push([kind, String(size), figure(p50), figure(p99), figure(max)]);
        if (kind === "by name")
          verdicts.push(hold(`${size} waiting: returns after the answer, p50`, p50, "atMost", 1, "ms"));
      }
    }
    bench.progress("1,000 that fail");
    const ms = await failing(Math.min(1_000, bench.pace.most));
    verdicts.push(hold("1,000 waits that fail together", ms, "atMost", 2_000, "ms"));
    return {
      tables: [{ title: "", columns: ["waits", "waiting at once", "p50 ms", "p99 ms", "max ms"], rows }],
      verdicts,
      notes: [
        "A connection for each call that waits; one process reads all answers. Below zero: the wait returned first.",
      ],
    };
  },
};
