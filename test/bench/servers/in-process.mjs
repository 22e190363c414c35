// Times what a test suite pays: loading the library, starting a sim in process, making a project. One JSON line.
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";

const times = { bare: [], start: [], project: [] };

async function timed(list, work) {
  const from = performance.now();
  const result = await work();
  list.push(performance.now() - from);
  return result;
}

/** The first answer, so that what is loaded late counts. */
const firstAnswer = async (url, body) => (await fetch(url, { method: "POST", body })).text();

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

const rounds = Number(process.argv[2]);
await bare();
const importedAt = performance.now();
const { startSim } = await import("../../../dist/index.js");
const load = performance.now() - importedAt;
for (let round = 0; round < rounds; round++) {
  await bare();
  const sim = await timed(times.start, async () => {
    const made = await startSim();
    const event = { api_key: made.apiKey, event: "first", distinct_id: "u" };
    await firstAnswer(`${made.url}/capture/`, JSON.stringify(event));
    return made;
  });
  const project = await sim.project();
  await project.dispose();
  const other = await timed(times.project, () => sim.project());
  await other.dispose();
  await sim.close();
}
console.log(JSON.stringify({ load, ...times }));
