import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { createPageSockets } from "../../../src/sim/server/inspect-socket.ts";
import { Feed } from "../../../src/state/journal/feed/feed.ts";
import type { FeedEntry } from "../../../src/state/journal/feed/ports.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { type LoadResult, runLoad } from "../load.ts";
import { openPages, type PagesResult } from "../pages.ts";
import { captureBody, digits, mixedUser } from "../payload.ts";
import { launch } from "../server.ts";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

const perSecond = 10_000;
const everyMs = 10;

const ids = Array.from({ length: 1_000 }, (_, i) => `user-${digits(i)}`);

/** As cheap as it can be: it is not what is measured. */
const entryOf = (n: number): FeedEntry => ({
  n,
  project: 1,
  request: {
    n,
    at: 1_700_000_000_000 + n,
    method: "POST",
    target: "/capture/",
    status: 200,
    ms: 0.4,
    project: 1,
    outcome: "answered",
    reason: null,
    detail: null,
    unmatched: false,
    fault: null,
    source: "emulator",
    partition: null,
    events: 1,
    dropped: 0,
  },
  events: [
    {
      seq: n,
      n,
      i: 0,
      at: 1_700_000_000_000 + n,
      time: 1_700_000_000_000 + n,
      project: 1,
      event: "plan_selected",
      distinct_id: ids[n % ids.length] ?? "",
      person: "0195d3b1-0000-7000-8000-000000000001",
      outcome: "kept",
      reason: null,
      warnings: [],
    },
  ],
});

/** Who reports pages of entries. */
interface Teller {
  tell(entry: FeedEntry): void;
  accept(req: Parameters<ReturnType<typeof createPageSockets>["accept"]>[0], socket: Socket, head: Buffer): void;
}

const nothing = { properties: () => ({}), text: () => "", read: () => undefined };
const idle = {
  ...{ at: 0, requests: 0, rejected: 0, events: 0, kept: 0, dropped: 0, warned: 0, persons: 0, in_flight: 0 },
  ...{ clock: { now: 0, frozen: true, real: false }, faults: [], tape: null, recording: null },
  ...{ scenario_problems: 0, scenario_edit: null, damage: 0, world: 0 },
};

function theFeed(): Teller {
  const tellers = new Set<(entry: FeedEntry) => void>();
  let last = 0;
  const feed = new Feed({
    journal: {
      ...nothing,
      complete: (head) => ({ ...head, preview: [["plan", "pro"]], path: "/", lib: "web", session: null }),
      get last() {
        return last;
      },
      onEntry(_, tell) {
        tellers.add(tell);
        return () => tellers.delete(tell);
      },
      onVeiled: () => () => {},
    },
    read: { events: () => ({ problems: [] }), requests: () => ({ problems: [] }) },
    now: () => 0,
    stat: () => idle,
    token: null,
    makeEpoch: () => "bench",
    notice: (text) => console.error(text),
  });
  const sockets = createPageSockets((socket) => socket.destroy());
  return {
    tell(entry) {
      last = entry.n;
      for (const tell of tellers) tell(entry);
    },
    accept: (req, socket, head) => sockets.accept(req, socket, head, (wire) => feed.connect(wire)),
  };
}

/** What one writes first: each row to each page; or, to know what making the events costs, to none. */
function oneByOne(isTold = true): Teller {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  return {
    tell(entry) {
      if (!isTold) return;
      const [row] = entry.events ?? [];
      for (const page of server.clients) page.send(JSON.stringify({ t: "one", row }));
    },
    accept(req, socket, head) {
      server.handleUpgrade(req, socket, head, (page) => {
        page.on("message", () => page.send('{"t":"subscribed"}'));
      });
    },
  };
}

interface Reported extends PagesResult {
  readonly cpuMs: number;
  readonly grownMb: number;
  readonly events: number;
}

const rssMb = (): number => process.memoryUsage().rss / 2 ** 20;

/** Sends pages 10,000 events a second, for `ms`. */
async function tell(teller: Teller, ms: number): Promise<Reported> {
  const server = createServer();
  server.on("upgrade", (req, socket, head) => teller.accept(req, socket as Socket, head));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pages = await openPages(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 5, 1);
  const before = { cpu: process.cpuUsage(), rss: rssMb(), at: performance.now() };
  let n = 0;
  while (performance.now() - before.at < ms) {
    const due = Math.floor(((performance.now() - before.at) * perSecond) / 1_000);
    while (n < due) teller.tell(entryOf(++n));
    await pause(everyMs);
  }
  const cpu = process.cpuUsage(before.cpu);
  const grownMb = rssMb() - before.rss;
  const result = await pages.end();
  server.close();
  return { ...result, events: n, grownMb, cpuMs: (cpu.user + cpu.system) / 1_000 };
}

const lostIn = ({ reported, missing, events }: Reported): number =>
  missing + reported.reduce((sum, it) => sum + Math.max(0, events - it), 0);

const perEvent = ({ cpuMs, events }: Reported): number => (cpuMs / events) * 1_000;

interface Captured extends LoadResult {
  readonly memoryMb: number;
  readonly missing: number;
}

/** @param perSecond Captures a second; absent: as many as are answered. */
async function capture(pages: number, { pace }: Bench, perSecond?: number): Promise<Captured> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  try {
    const open = pages > 0 ? await openPages(server.url, pages, 1) : undefined;
    const bodies = Array.from({ length: 2_000 }, (_, i) =>
      captureBody(server.key, { event: "plan_selected", distinct_id: mixedUser(i), n: i }),
    );
    const load = await runLoad(server, {
      ...{ path: "/capture/", bodies, connections: 10 },
      ...{ warmup: pace.warmup, ms: 2 * pace.measureMs },
      ...(perSecond !== undefined && { perSecond }),
    });
    const memoryMb = server.memory() / 2 ** 20;
    const { reported, missing } = (await open?.end()) ?? { reported: [], missing: 0 };
    const all = load.acknowledged.reduce((sum, it) => sum + it, 0);
    return { ...load, memoryMb, missing: missing + reported.filter((it) => it < all).length };
  } finally {
    await server.kill();
    removeFolder(folder);
  }
}

const rate = ({ requests, ms }: LoadResult): number => (requests / ms) * 1_000;
const cpu = ({ cpuMs, requests }: LoadResult): number => ((cpuMs ?? Number.NaN) / requests) * 1_000;
const p50 = (it: LoadResult): number => it.p50;
const p99 = (it: LoadResult): number => it.p99;

const captureColumns = ["", "req/s", "p50 ms", "p99 ms", "CPU µs/req", "× no page", "range", "MB"];

/** As a busy test suite has them. */
const steady = 1_000;

/** The same captures while no one looks on, and with ten pages. */
interface Compared {
  readonly none: Captured[];
  readonly ten: Captured[];
}

const ratioOf = ({ none, ten }: Compared, of: (it: Captured) => number): number =>
  pairedRatio(ten.map(of), none.map(of));

function captureRows({ none, ten }: Compared): string[][] {
  const row = (label: string, results: readonly Captured[]): string[] => [
    label,
    ...[rate, p50, p99, cpu].map((of) => figure(median(results.map(of)))),
    figure(pairedRatio(results.map(cpu), none.map(cpu))),
    pairedRange(results.map(cpu), none.map(cpu)),
    figure(median(results.map(({ memoryMb }) => memoryMb))),
  ];
  return [row("no page", none), row("10 pages, one stalled", ten)];
}

export const suite: Suite = {
  name: "feed",
  title: "pages that look on: 10,000 events a second to 5 pages, one of which takes nothing",
  async run(bench) {
    const { pace } = bench;
    const reported: Record<"none" | "feed" | "naive", Reported[]> = { none: [], feed: [], naive: [] };
    const full: Compared = { none: [], ten: [] };
    const paced: Compared = { none: [], ten: [] };
    await tell(theFeed(), pace.warmup.leastMs);
    for (let round = 1; round <= pace.rounds; round++) {
      bench.progress(`round ${round} of ${pace.rounds}`);
      reported.none.push(await tell(oneByOne(false), 5 * pace.measureMs));
      reported.feed.push(await tell(theFeed(), 5 * pace.measureMs));
      reported.naive.push(await tell(oneByOne(), 5 * pace.measureMs));
      full.none.push(await capture(0, bench));
      full.ten.push(await capture(10, bench));
      paced.none.push(await capture(0, bench, steady));
      paced.ten.push(await capture(10, bench, steady));
    }
    /** Without making the events. */
    const net = (results: readonly Reported[]): number[] =>
      results.map((it, i) => perEvent(it) - perEvent(reported.none[i] ?? it));
    const tellRow = (label: string, results: readonly Reported[]): string[] => [
      label,
      figure(median(net(results))),
      figure(pairedRatio(net(results), net(reported.naive))),
      figure(median(results.map((it) => it.grownMb))),
      String(results.reduce((sum, it) => sum + lostIn(it), 0)),
    ];
    const lost = reported.feed.reduce((sum, it) => sum + lostIn(it), 0);
    const missing = [...full.ten, ...paced.ten].reduce((sum, it) => sum + it.missing, 0);
    return {
      tables: [
        {
          title: "telling 5 pages",
          columns: ["", "CPU µs/event", "× one by one", "MB grown", "lost"],
          rows: [tellRow("feed", reported.feed), tellRow("one by one", reported.naive)],
        },
        ...[
          { title: "POST /capture/ over 10 connections, as many as are answered", of: full },
          { title: `the same, ${steady.toLocaleString("en-US")} a second`, of: paced },
        ].map(({ title, of }) => ({ title, columns: captureColumns, rows: captureRows(of) })),
      ],
      verdicts: [
        hold("CPU per event to one by one", pairedRatio(net(reported.feed), net(reported.naive)), "atMost", 0.25),
        hold("events that a page did not get", lost + missing, "atMost", 0, "events"),
        hold("CPU per capture with 10 pages to none, full load", ratioOf(full, cpu), "atMost", 1.5),
        hold("p50 of 1,000 captures a second with 10 pages to none", ratioOf(paced, p50), "atMost", 1.5),
        hold("p99 of 1,000 captures a second with 10 pages to none", ratioOf(paced, p99), "atMost", 2),
      ],
      notes: [
        "one by one: ws.send(JSON.stringify(row)) for each page. Pages ask for events, as the list of events does. What making the events costs is not counted. Pages read on the load's core: with them the load gets less of it, which is why req/s is not compared, and the latencies include it.",
      ],
    };
  },
};
