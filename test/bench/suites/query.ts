import { type Client, connect } from "../client.ts";
import { type Filled, filledEvent, sameAs } from "../fixture.ts";
import { launch, type Server } from "../server.ts";
import { figure, hold, median, quantile } from "../statistics.ts";
import type { Bench, Report, Suite, Verdict } from "../suite.ts";

interface Found {
  events: { event: string; distinct_id: string }[];
}

/** Where the k-th question aims: spread over the whole log, the same in each run. */
const spot = (k: number, events: number): number => (k * 7_919_993 + 4_801) % events;

/** Asks once and checks the answer, each of its events. @returns the time it took, ms */
async function ask(client: Client, i: number, { events, ids }: Filled): Promise<number> {
  const { event, distinct_id } = filledEvent(i, ids);
  const answer = await client.call("GET", `/__sim/events?event=${event}&distinct_id=${distinct_id}&limit=1000`);
  const found = (JSON.parse(answer.body) as Found).events;
  const wrong = found.some((it) => it.event !== event || it.distinct_id !== distinct_id);
  const expected = sameAs(events, ids);
  if (wrong || found.length !== expected) {
    throw new Error(
      `${event} by ${distinct_id}: ${found.length} events, ${expected} expected${wrong ? ", others among them" : ""}`,
    );
  }
  return answer.ms;
}

/** Times of questions for a name and a user, spread over the whole log. */
export async function askMany(server: Server, filled: Filled, count: number): Promise<number[]> {
  const client = connect(server);
  const times: number[] = [];
  for (let k = 0; k < count; k++) times.push(await ask(client, spot(k, filled.events), filled));
  client.close();
  return times;
}

/** Times of the first page of all that a user did: no bar, since it grows with the page. */
async function listMany(server: Server, { events, ids }: Filled, count: number): Promise<number[]> {
  const client = connect(server);
  const times: number[] = [];
  for (let k = 0; k < count; k++) {
    const { distinct_id } = filledEvent(spot(k, events), ids);
    times.push((await client.call("GET", `/__sim/events?distinct_id=${distinct_id}&limit=100`)).ms);
  }
  client.close();
  return times;
}

interface Outcome {
  row: string[];
  verdicts: Verdict[];
}

const megabytes = (bytes: number): string => figure(bytes / 2 ** 20);

async function measure(bench: Bench, ids: number): Promise<Outcome> {
  const { events } = bench.pace;
  const label = `${ids.toLocaleString("en-US")} users`;
  bench.progress(`taking in ${events.toLocaleString("en-US")} events of ${label}`);
  const filled = await bench.fixtures.filled(ids);
  bench.progress(`asking among events of ${label}`);
  const times = await askMany(filled.server, filled, bench.pace.calls);
  const lists = await listMany(filled.server, filled, bench.pace.calls / 10);
  const restarted = await launch("sim", await bench.fixtures.atRest(ids), true);
  const later = await askMany(restarted, filled, bench.pace.calls);
  await restarted.stop();
  const { idle, filled: after } = filled.memory;
  const growth = (after - idle) / events;
  return {
    row: [
      label,
      figure((events / filled.ms) * 1000),
      String(sameAs(events, ids)),
      figure(times[0] ?? Number.NaN),
      figure(median(times)),
      figure(quantile(times, 0.99)),
      figure(median(lists)),
      figure(later[0] ?? Number.NaN),
      figure(median(later)),
      megabytes(idle),
      megabytes(after),
      figure(growth),
    ],
    verdicts: [
      hold(`query p50, ${label}`, median(times), "atMost", 5, "ms"),
      hold(`query p50 after a restart, ${label}`, median(later), "atMost", 5, "ms"),
      hold(`memory per event over the start, ${label}`, growth, "atMost", 120, "bytes"),
    ],
  };
}

export const suite: Suite = {
  name: "query",
  title: "“Which events named X by U?” (GET /__sim/events?event=…&distinct_id=…) and memory",
  async run(bench): Promise<Report> {
    const { events } = bench.pace;
    const few = await measure(bench, 1000);
    const many = await measure(bench, events);
    await bench.fixtures.discard(events);
    return {
      tables: [
        {
          title: `${events.toLocaleString("en-US")} events, taken in through /batch/`,
          columns: [
            "",
            "events/s",
            "hits",
            "first ms",
            "p50 ms",
            "p99 ms",
            "page of U",
            "restart: first",
            "p50 ms",
            "RSS MB idle",
            "full",
            "bytes/event",
          ],
          rows: [few.row, many.row],
        },
      ],
      verdicts: [...few.verdicts, ...many.verdicts],
      notes: [
        "Over HTTP on one connection, each answer checked. “Page of U”: p50 of the first 100 events of a user. RSS: at the start, and two quiet seconds after the last event.",
      ],
    };
  },
};
