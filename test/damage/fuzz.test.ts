import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, StartError, startSim } from "../../src/index.ts";
import { checkData } from "../../src/sim/folder/check-folder.ts";
import { ask, capture, filesIn, linesIn, makeFolders, newFolder } from "./folder.ts";

/** `npm run fuzz:damage` does 1,000; `DAMAGE_SEED` draws others. */
const runs = Number(process.env.FUZZ_DAMAGE ?? 60);
const seed = Number(process.env.DAMAGE_SEED ?? 20261123);

let folders: Record<string, string> = {};
beforeAll(async () => {
  folders = await makeFolders();
});
afterAll(() => {
  for (const it of Object.values(folders)) rmSync(it, { recursive: true });
});

type Random = (below: number) => number;

/** Mulberry32: the same numbers for the same seed. */
function randomFrom(start: number): Random {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const rewritten = (file: string, change: (bytes: Buffer) => void): void => {
  const bytes = readFileSync(file);
  change(bytes);
  writeFileSync(file, bytes);
};

const withLines = (file: string, change: (lines: string[]) => void): void => {
  const lines = readFileSync(file, "latin1").split("\n");
  change(lines);
  writeFileSync(file, lines.join("\n"), "latin1");
};

type Corruption = (file: string, random: Random, others: readonly string[]) => void;

const corruptions: Readonly<Record<string, Corruption>> = {
  flip: (file, random) =>
    rewritten(file, (bytes) => {
      const at = random(bytes.length + 1);
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    }),
  zero: (file, random) =>
    rewritten(file, (bytes) => {
      const at = random(bytes.length + 1);
      bytes.fill(0, at, Math.min(bytes.length, at + 1 + random(600)));
    }),
  cut: (file, random) => truncateSync(file, random(readFileSync(file).length + 1)),
  "delete a line": (file, random) => withLines(file, (lines) => lines.splice(random(lines.length), 1)),
  "duplicate a line": (file, random) =>
    withLines(file, (lines) => lines.splice(random(lines.length), 0, lines[random(lines.length)] ?? "")),
  "swap files": (file, random, others) => {
    const other = others[random(others.length)] ?? file;
    copyFileSync(file, `${file}.swap`);
    copyFileSync(other, file);
    renameSync(`${file}.swap`, other);
  },
};

interface Line {
  n?: number;
  seq?: number;
  project: number;
  target: string;
  rejected?: object;
  events?: object[];
}

/** The requests whose lines stand in the damaged file as they were written. */
function intactRequests(original: string, damaged: string): Line[] {
  const left = new Set(linesIn(damaged));
  return linesIn(original)
    .filter((line) => left.has(line))
    .map((line) => JSON.parse(Buffer.from(line, "latin1").toString()) as Line)
    .filter((line) => line.n !== undefined && line.target !== undefined);
}

/** The persons all of whose lines stand in the damaged file. */
function intactPersons(original: string, damaged: string): string[] {
  const left = new Set(linesIn(damaged));
  const lines = linesIn(original);
  const merged = lines.filter((it) => it.includes('"kind":"gone"')).join();
  const uuids = lines.flatMap((line) => /"kind":"person".*?"uuid":"([^"]+)"/.exec(line)?.[1] ?? []);
  return [...new Set(uuids)].filter(
    (uuid) => !merged.includes(uuid) && lines.every((line) => !line.includes(uuid) || left.has(line)),
  );
}

/** Files whose damage may keep a sim from starting: the first line, or another file in its place. */
const mayRefuse = (original: string, damaged: string, how: string): boolean =>
  how === "swap files" || linesIn(original)[0] !== linesIn(damaged)[0] || basename(original) === "world.json";

const looks = [
  "/__sim/info",
  "/__sim/requests?limit=5",
  "/__sim/requests?outcome=rejected",
  "/__sim/requests.har",
  "/__sim/events?limit=5&event=seen",
  "/__sim/events?distinct_id=user-3",
  "/__sim/persons?search=user",
  "/__sim/persons?distinct_id=named-0",
  "/__sim/groups",
  "/__sim/flags",
  "/__sim/snapshots",
  "/__sim/state",
  "/__sim/exports/runs",
  "/__sim/lint",
  "/__sim/problems",
  "/__sim/flags/decisions",
  "/api/projects/1/dashboards/",
  "/api/projects/1/events/?limit=3",
  "/api/projects/1/persons/?limit=3",
  "/api/projects/@current/",
  "/api/users/@me/",
  "/api/organizations/@current/",
];

interface Answers {
  requests: { n: number }[];
  events: { seq: number }[];
  results: { uuid: string }[];
  persons: { uuid: string }[];
}

async function listed(sim: Sim): Promise<{ requests: Set<number>; events: Set<number>; persons: Set<string> }> {
  const read = async (path: string): Promise<Partial<Answers>> => {
    const { status, body } = await ask(sim, "GET", path);
    expect({ path, status, body: status === 200 ? "" : body }).toEqual({ path, status: 200, body: "" });
    return JSON.parse(body) as Partial<Answers>;
  };
  const { requests = [] } = await read("/__sim/requests?limit=10000");
  const { events = [] } = await read("/__sim/events?limit=10000");
  const { persons = [], results = persons } = await read("/__sim/persons?limit=1000");
  return {
    requests: new Set(requests.map((it) => it.n)),
    events: new Set(events.map((it) => it.seq)),
    persons: new Set(results.map((it) => it.uuid)),
  };
}

async function started(data: string): Promise<Sim | StartError> {
  try {
    return await startSim({ data });
  } catch (error) {
    if (error instanceof StartError) return error;
    throw error;
  }
}

const missing = <T>(expected: readonly T[], found: ReadonlySet<T>): T[] => expected.filter((it) => !found.has(it));

async function look(sim: Sim, original: string, folder: string, isFirst: boolean): Promise<void> {
  const of = (name: string) => [join(original, name), join(folder, name)] as const;
  const requests = intactRequests(...of("traffic.ndjson")).filter((it) => it.target !== "");
  const seqs = requests
    .filter((it) => !it.target.startsWith("/__sim") && (it.project === 1 || it.project === null))
    .flatMap(({ seq = 0, events = [] }) => events.map((_, i) => seq + i));
  const persons = intactPersons(...of("people.ndjson"));
  const found = await listed(sim);
  const numbers = requests.flatMap((it) => it.n ?? []);
  expect({
    requests: missing(numbers, found.requests),
    events: missing(seqs, found.events),
    persons: missing(persons, found.persons),
  }).toEqual({ requests: [], events: [], persons: [] });
  const totals = JSON.parse((await ask(sim, "GET", "/__sim/totals")).body);
  expect({ events: totals.events.total, requests: totals.requests.total }).toEqual({
    events: found.events.size,
    requests: found.requests.size,
  });
  for (const line of requests.filter((_, i) => i % (isFirst ? 4 : 20) === 0)) {
    const { status, body } = await ask(sim, "GET", `/__sim/requests/${line.n}`);
    expect({ status, n: JSON.parse(body).n, target: JSON.parse(body).target }).toEqual({
      status: 200,
      n: line.n,
      target: line.target,
    });
  }
  for (const path of looks) {
    const { status, body } = await ask(sim, "GET", path);
    if (status >= 500) expect({ path, status, body }).toBe("an answer below 500");
  }
}

/** One corruption of a copy; what fails says which. */
async function tryOne(run: number): Promise<"refused" | "started"> {
  const random = randomFrom(seed + run * 7919);
  const kinds = Object.keys(folders);
  const original = folders[kinds[random(kinds.length)] ?? ""] ?? "";
  const folder = newFolder();
  cpSync(original, folder, { recursive: true });
  const files = filesIn(folder);
  const file = files[random(files.length)] ?? "";
  const how = Object.keys(corruptions)[random(Object.keys(corruptions).length)] ?? "";
  corruptions[how]?.(
    join(folder, file),
    random,
    files.map((it) => join(folder, it)),
  );
  mkdirSync(join(folder, "as-damaged"));
  for (const name of ["traffic.ndjson", "people.ndjson"])
    copyFileSync(join(folder, name), join(folder, "as-damaged", name));
  try {
    await checkData(folder);
    for (const isFirst of [true, false]) {
      const sim = await started(folder);
      if (sim instanceof StartError) {
        expect({ code: sim.code, line: /\n/.test(sim.message), hint: sim.hint !== "" }).toEqual({
          code: "data_folder",
          line: false,
          hint: true,
        });
        const isAllowed = mayRefuse(join(original, file), join(folder, file), how);
        expect({ refused: sim.message, isAllowed }).toEqual({ refused: sim.message, isAllowed: true });
        return "refused";
      }
      try {
        await look(sim, original, join(folder, "as-damaged"), isFirst);
        const { status } = await capture(sim, { event: "after", distinct_id: `user-${run % 40}` });
        expect(status).toBeLessThan(500);
      } finally {
        await sim.close();
      }
    }
    return "started";
  } catch (error) {
    throw new Error(`run ${run}: ${how} of ${file} in ${basename(original)}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test(
  `${runs} corruptions: no answer with 500, every intact entry is listed`,
  async () => {
    const failures: unknown[] = [];
    let refused = 0;
    for (let run = 0; run < runs; run++) {
      await tryOne(run).then(
        (end) => {
          if (end === "refused") refused++;
        },
        (error: unknown) => failures.push(error),
      );
      if (failures.length === 5) break;
    }
    expect(failures).toEqual([]);
    expect(refused).toBeLessThan(runs / 2);
  },
  runs * 3_000,
);
