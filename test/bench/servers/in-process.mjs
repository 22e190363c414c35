// Times what a test process pays: import and the first startSim(), each further one, the first answer, a project.
// One JSON line.
import { performance } from "node:perf_hooks";

const times = { bare: [], start: [], answer: [], project: [] };

async function timed(list, work) {
  const from = performance.now();
  const result = await work();
  list.push(performance.now() - from);
  return result;
}

const startedAt = performance.now();
const { startSim } = await import("../../../dist/index.js");
const load = performance.now() - startedAt;
const started = await startSim();
const first = performance.now() - startedAt;
await started.close();

/** The first answer, so that what is loaded late counts. */
const firstAnswer = async (url, body) => (await fetch(url, { method: "POST", body })).text();
const { createServer } = await import("node:http");

async function bare() {
  const server = await timed(times.bare, async () => {
    const made = createServer((_, response) => response.end("{}"));
    await new Promise((listening) => made.listen(0, "127.0.0.1", listening));
    await firstAnswer(`http://127.0.0.1:${made.address().port}/`, "{}");
    return made;
  });
  server.close();
  server.closeAllConnections();
}

await bare();
times.bare.length = 0;
for (let round = 0; round < Number(process.argv[2]); round++) {
  await bare();
  const sim = await timed(times.start, () => startSim());
  const event = { api_key: sim.apiKey, event: "first", distinct_id: "u" };
  await timed(times.answer, () => firstAnswer(`${sim.url}/capture/`, JSON.stringify(event)));
  const project = await sim.project();
  await project.dispose();
  const other = await timed(times.project, () => sim.project());
  await other.dispose();
  await sim.close();
}
console.log(JSON.stringify({ load, first, ...times }));
