import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { removeFolder, temporaryFolder } from "../folders.ts";
import { figure, hold, median, quantile } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

const sizes = [100, 10_000, 100_000];
const bundle = "node_modules/.cache/phx-bench/tape-matcher.js";

interface Looked {
  loadMs: number;
  rss: number;
  us: number[];
}

async function look(count: number, { pace }: Bench): Promise<Looked> {
  const folder = temporaryFolder();
  try {
    const args = [bundle, join(folder, "bench.tape.ndjson"), String(count), String(pace.calls * 10)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
    return JSON.parse(stdout) as Looked;
  } finally {
    removeFolder(folder);
  }
}

export const suite: Suite = {
  name: "replay",
  title: "Answering from a tape: one look-up, by how much is on the tape",
  async run(bench) {
    await build({
      entryPoints: ["test/bench/tape-matcher.ts"],
      bundle: true,
      format: "esm",
      platform: "node",
      packages: "external",
      outfile: bundle,
      logLevel: "warning",
    });
    const found: Looked[] = [];
    for (const size of sizes.map((it) => Math.min(it, bench.pace.most))) {
      bench.progress(`${size} exchanges`);
      found.push(await look(size, bench));
    }
    const base = median(found[0]?.us ?? []);
    return {
      tables: [
        {
          title: "",
          columns: ["exchanges", "p50 µs", "p99 µs", "× 100", "load ms", "RSS MB"],
          rows: found.map(({ us, loadMs, rss }, i) => [
            String(sizes[i]),
            figure(median(us)),
            figure(quantile(us, 0.99)),
            figure(median(us) / base),
            figure(loadMs),
            figure(rss / 2 ** 20),
          ]),
        },
      ],
      verdicts: [hold("look-up in 100,000 against 100", median(found.at(-1)?.us ?? []) / base, "atMost", 1.2)],
      notes: ["Flag requests of as many users; each look-up reads its answer from the file."],
    };
  },
};
