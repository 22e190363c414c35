import { parseArgs } from "node:util";
import { createFixtures } from "./fixture.ts";
import { installed } from "./install.ts";
import { machineFacts } from "./machine.ts";
import { showReport, showVerdicts } from "./report.ts";
import type { Bench, Pace, Suite, Verdict } from "./suite.ts";
import { suites } from "./suites/index.ts";

const full: Pace = {
  rounds: 5,
  warmup: { leastMs: 2000, mostMs: 8000 },
  measureMs: 1000,
  starts: 11,
  events: 1_000_000,
  growth: [10_000, 100_000, 1_000_000, 5_000_000],
  captures: 100_000,
  kills: 12,
  calls: 300,
  quietMs: 2_000,
  most: Number.POSITIVE_INFINITY,
};

const quick: Pace = {
  rounds: 1,
  warmup: { leastMs: 1500, mostMs: 4000 },
  measureMs: 600,
  starts: 5,
  events: 100_000,
  growth: [1_000, 10_000, 100_000],
  captures: 20_000,
  kills: 3,
  calls: 100,
  quietMs: 2_000,
  most: Number.POSITIVE_INFINITY,
};

const usage = `npm run bench -- [--quick] [--peers] [--only SUITE]…   --peers: --only peers; suites: ${suites.map((it) => it.name).join(", ")}`;

function chosen(names: readonly string[]): readonly Suite[] {
  const unknown = names.find((name) => !suites.some((it) => it.name === name));
  if (unknown !== undefined) throw new Error(`no suite "${unknown}"\n${usage}`);
  return names.length === 0 ? suites.filter((it) => !it.isOptional) : suites.filter((it) => names.includes(it.name));
}

/** The line of progress on a terminal; it is overwritten by the next one. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
}

/** A suite that could not be measured is reported, makes the exit code 1, and does not stop the others. */
async function runSuite(suite: Suite, bench: Bench): Promise<readonly Verdict[]> {
  const named = { ...bench, progress: (text: string) => bench.progress(`${suite.name}: ${text}`) };
  const startedAt = performance.now();
  try {
    const report = await suite.run(named);
    progress("");
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`\n${suite.name} — ${suite.title} (${seconds} s)`);
    console.log(showReport(report));
    return report.verdicts.map((it) => ({ ...it, what: `${suite.name}: ${it.what}` }));
  } catch (error) {
    progress("");
    console.log(`\n${suite.name} — could not be measured: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
    return [];
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      peers: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const selected = chosen([...values.only, ...(values.peers ? ["peers"] : [])]);
  const pace = values.quick ? quick : full;
  console.log(machineFacts());
  console.log(
    `${pace.rounds} interleaved ${pace.rounds === 1 ? "round" : "rounds"}, a fresh process for each measurement, medians; × is a ratio within this run`,
  );
  const bench: Bench = { pace, fixtures: createFixtures(pace.events, pace.quietMs), installed, progress };
  const verdicts: Verdict[] = [];
  for (const suite of selected) verdicts.push(...(await runSuite(suite, bench)));
  const missed = verdicts.filter((it) => !it.met);
  console.log(`${verdicts.length - missed.length} of ${verdicts.length} bars met`);
  console.log(showVerdicts(missed).join("\n"));
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => process.exit(code));
}
try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
// Whatever still runs is ours to end, see server.ts.
process.exit();
