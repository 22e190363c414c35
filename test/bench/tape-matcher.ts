import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { performance } from "node:perf_hooks";
import type { Exchange } from "../../src/lab/tapes/format/exchange.ts";
import type { TapeHeader } from "../../src/lab/tapes/format/header.ts";
import { loadTapeMatcher } from "../../src/lab/tapes/match/tape-matcher.ts";
import type { ReplayRequest } from "../../src/lab/tapes/ports.ts";

/**
 * Look-ups alone, in a process of its own: a file for the tape, how many exchanges, how many look-ups; prints
 * `{loadMs, rss, us}`, `us` being each look-up's time.
 */

const header: TapeHeader = {
  tape: 1,
  id: "019a0000-0000-7000-8000-000000000001",
  created: "2026-01-01T00:00:00.000Z",
  creator: "phx-sim bench",
  upstream: "https://us.i.posthog.com",
  redaction: "default",
  noise: [],
};

const flagsAsk = (i: number) => ({
  token: "phc_bench",
  distinct_id: `user-${i}`,
  person_properties: { plan: i % 2 === 0 ? "pro" : "free", seats: i % 17 },
});

function exchange(i: number): Exchange {
  const body = JSON.stringify(flagsAsk(i));
  const answer = { flags: { beta: { key: "beta", enabled: i % 2 === 0 } }, errorsWhileComputingFlags: false };
  const wire = { bytes: body.length, encodings: [] };
  const headers = [["content-type", "application/json"]] as const;
  return {
    i: i + 1,
    at: new Date(Date.UTC(2026, 0, 1) + i * 37).toISOString(),
    route: "flags",
    req: {
      method: "POST",
      url: "https://us.i.posthog.com/flags/?v=2",
      http: "1.1",
      headers,
      wire,
      body: { json: flagsAsk(i) },
    },
    res: { status: 200, reason: "OK", http: "1.1", headers, wire, body: { json: answer }, ttfb: 20, total: 21 },
    complete: true,
    redacted: [],
  };
}

async function write(file: string, count: number): Promise<void> {
  const out = createWriteStream(file);
  out.write(`${JSON.stringify(header)}\n`);
  for (let i = 0; i < count; i++) {
    if (!out.write(`${JSON.stringify(exchange(i))}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

const ask = (i: number): ReplayRequest => ({
  method: "POST",
  target: "/flags/?v=2",
  headers: { "content-type": "application/json" },
  body: flagsAsk(i),
  client: "bench",
});

const [file = "", ...numbers] = process.argv.slice(2);
const [count = 100, lookups = 1_000] = numbers.map(Number);
await write(file, count);
const startedAt = performance.now();
const matcher = await loadTapeMatcher(file);
const loadMs = performance.now() - startedAt;
const us: number[] = [];
for (let k = -200; k < lookups; k++) {
  const asked = ask(((k + 200) * 7_919) % count);
  const from = performance.now();
  const answered = matcher.answer(asked);
  const took = (performance.now() - from) * 1_000;
  if (!("hit" in answered)) throw new Error(`look-up ${k}: not found`);
  if (k >= 0) us.push(took);
}
process.stdout.write(JSON.stringify({ loadMs, rss: process.memoryUsage().rss, us }));
