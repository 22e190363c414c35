import { setTimeout as pause } from "node:timers/promises";
import { type Client, connect } from "../client.ts";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { captureBody } from "../payload.ts";
import { launch } from "../server.ts";
import { figure, hold, median, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

interface Waited {
  events: { event: string }[];
}

/** The wait is sent, and some ms later the event. @returns ms from the event's answer to the wait's return */
async function once(waiter: Client, sender: Client, key: string, k: number): Promise<number> {
  const event = `awaited-${k}`;
  const wait = waiter.call(
    "POST",
    "/__sim/events/wait",
    JSON.stringify({ match: { event }, timeout_ms: 5000 }),
  );
  await pause(5);
  const sent = await sender.call("POST", "/capture/", captureBody(key, { event, distinct_id: "waiter" }));
  const returned = await wait;
  const found = returned.status === 200 ? (JSON.parse(returned.body) as Waited).events : [];
  if (sent.status !== 200 || found.length !== 1 || found[0]?.event !== event) {
    throw new Error(`wait for ${event}: ${returned.status} ${returned.body.slice(0, 300)}`);
  }
  return returned.at - sent.at;
}

async function measure({ pace }: Bench): Promise<number[]> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  const [waiter, sender] = [connect(server), connect(server)];
  const times: number[] = [];
  for (let k = -20; k < pace.calls; k++) {
    const ms = await once(waiter, sender, server.key, k + 20);
    if (k >= 0) times.push(ms);
  }
  waiter.close();
  sender.close();
  await server.kill();
  removeFolder(folder);
  return times;
}

export const suite: Suite = {
  name: "wait",
  title: "POST /__sim/events/wait: from the event's own answer to the waiting call's return",
  async run(bench) {
    bench.progress(`${bench.pace.calls} waits`);
    const times = await measure(bench);
    return {
      tables: [
        {
          title: "",
          columns: ["", "p50 ms", "p99 ms", "max ms"],
          rows: [["sim", figure(median(times)), figure(quantile(times, 0.99)), figure(quantile(times, 1))]],
        },
      ],
      verdicts: [hold("wait returns after the answer, p50", median(times), "atMost", 1, "ms")],
      notes: [
        "Two connections of one client, which reads both answers; below zero: the wait returned first.",
      ],
    };
  },
};
