import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { endAll, newFolder, phxSim } from "../../../support/phx-sim.ts";

afterEach(endAll);

/** `npm run soak:tape` makes it 600: then the heap that both commands get is a small part of the tape. */
const megabytes = Number(process.env.TAPE_MB ?? 12);
const nodeOptions = ["--max-old-space-size=256"];
const patience = 60_000 + megabytes * 2_000;

const header = {
  tape: 1,
  id: "019a0000-0000-7000-8000-000000000001",
  created: "2026-01-01T00:00:00.000Z",
  creator: "phx-sim test",
  upstream: "https://us.i.posthog.com",
  redaction: "default",
  noise: [],
};

const filler = "x".repeat(3_000);
const headers = [["content-type", "application/json"]];

/** Batches of one event, and now and then a flag request, each of a person of its own. */
function exchange(i: number): object {
  const isFlags = i % 10 === 0;
  const token = "{{secret:project_api_key#1}}";
  const event = { event: "seen", distinct_id: `user-${i}`, properties: { filler, i } };
  const json = isFlags ? { token, distinct_id: `user-${i}` } : { api_key: token, batch: [event] };
  const answer = isFlags ? { flags: {}, errorsWhileComputingFlags: false, requestId: `r${i}` } : { status: "Ok" };
  const wire = { bytes: 3_200, encodings: [] };
  const path = isFlags ? "/flags/?v=2" : "/batch/";
  return {
    i: i + 1,
    at: new Date(Date.UTC(2026, 0, 1) + i * 37).toISOString(),
    route: isFlags ? "flags" : "capture",
    req: { method: "POST", url: header.upstream + path, http: "1.1", headers, wire, body: { json } },
    res: {
      ...{ status: 200, reason: "OK", http: "1.1", headers, wire: { bytes: 60, encodings: [] } },
      ...{ body: { json: answer }, ttfb: 1, total: 2 },
    },
    complete: true,
    redacted: ["req.body.token"],
  };
}

async function write(file: string): Promise<number> {
  const out = createWriteStream(file);
  out.write(`${JSON.stringify(header)}\n`);
  let i = 0;
  for (let bytes = 0; bytes < megabytes * 2 ** 20; i++) {
    const line = `${JSON.stringify(exchange(i))}\n`;
    bytes += line.length;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  return i;
}

test("a big tape is replayed and verified in little memory", { timeout: patience }, async () => {
  const cwd = newFolder();
  const file = join(cwd, "big.tape.ndjson");
  const exchanges = await write(file);

  const verified = await phxSim(["verify", file, "--json"], { cwd, nodeOptions }).ended;
  expect(verified.code, verified.stderr).toBe(0);

  const last = exchanges - (exchanges % 10 === 0 ? 10 : exchanges % 10);
  const ask = `const answer = await fetch(process.env.POSTHOG_HOST + "/flags/?v=2", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: "phc_any", distinct_id: "user-${last}" }),
  });
  console.log((await answer.json()).requestId);`;
  const command = ["--", process.execPath, "--input-type=module", "-e", ask];
  const replayed = await phxSim(["replay", file, ...command], { cwd, nodeOptions }).ended;
  expect(replayed.code, replayed.stderr).toBe(0);
  expect(replayed.stdout).toBe(`r${last}\n`);
});
