import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { createVitest } from "vitest/node";
import { mutantsOf } from "./mutants.mjs";
import { accepted, isolated, missingFiles, targets } from "./targets.mjs";

const root = resolve(import.meta.dirname, "../..");
const each = resolve(root, "scripts/mutation/each.ts");
/** The number that no mutant has. */
const unchanged = 0;
/** Mutants of one run: one start of the test runner. */
const together = 300;
/** A mutant that makes a test wait, or blocks the worker, has failed it. */
const patience = 30_000;

const numberOf = ({ moduleId }) => Number(moduleId.split("=")[1]);

/**
 * Runs the tests once with each of the mutants. A mutant that blocks the worker ends the run: it is `stuck`, and those
 * after it are in neither set.
 */
async function runOf(file, code, mutants, tests, isolate) {
  let stuck;
  const vitest = await createVitest(
    "test",
    {
      config: false,
      root,
      include: [],
      setupFiles: "test/support/set-up.ts",
      watch: false,
      update: false,
      reporters: [
        {
          onTestModuleQueued: (it) => {
            stuck = numberOf(it);
          },
          onTestModuleEnd: () => {
            stuck = undefined;
          },
        },
      ],
      silent: true,
      pool: "forks",
      isolate,
      maxWorkers: 1,
      testTimeout: patience,
      hookTimeout: patience,
      expect: { poll: { timeout: patience / 2 } },
      provide: { mutation: { tests, patience } },
    },
    {
      plugins: [
        { name: "mutants", enforce: "pre", transform: (_, id) => (id === file ? { code, map: null } : undefined) },
      ],
    },
  );
  await vitest.standalone();
  const [project] = vitest.projects;
  const { testModules } = await vitest.runTestSpecifications(
    mutants.map((id) => project.createSpecification(`${each}?mutant=${id}`)),
  );
  await vitest.close();
  const [broken] = testModules.flatMap((it) => (numberOf(it) === unchanged ? [...it.children.allTests("failed")] : []));
  if (broken)
    throw new Error(`"${broken.fullName}" fails without a mutant of ${file}: ${broken.result().errors[0]?.message}`);
  const numbersOf = (state) => testModules.filter((it) => it.state() === state).map(numberOf);
  return { failed: numbersOf("failed"), passed: numbersOf("passed"), stuck };
}

/** The mutants that fail a test or block the worker. */
async function killed(file, code, mutants, tests, isolate) {
  const dead = [];
  let open = mutants;
  while (open.length > 0) {
    const { failed, passed, stuck } = await runOf(file, code, open, tests, isolate);
    const ended = new Set([...failed, ...passed, stuck]);
    dead.push(...failed, ...(stuck === undefined ? [] : [stuck]));
    const rest = open.filter((id) => !ended.has(id));
    if (rest.length === open.length) throw new Error(`no mutant of ${file} was tried: the test runner failed`);
    open = rest;
  }
  return new Set(dead);
}

const short = (text) => text.replace(/\s+/g, " ").slice(0, 90);
const isAccepted = (name, lines, { line, to }) =>
  (accepted[name] ?? []).some(([part, made]) => lines[line - 1].includes(part) && to.startsWith(made));

/** The mutants that survived the last run of a file, where neither it nor the script has changed. */
const lastOf = (name) => resolve(root, "node_modules/.cache/phx-mutants", `${name.replaceAll("/", "-")}.json`);

function lastSurvivors(name, mutants) {
  const last = existsSync(lastOf(name)) ? JSON.parse(readFileSync(lastOf(name), "utf8")) : undefined;
  return last?.print === printOf(mutants) ? new Set(last.survivors) : undefined;
}

const printOf = (mutants) => createHash("sha1").update(JSON.stringify(mutants)).digest("hex");

async function check(name, tests) {
  const file = resolve(root, name);
  const text = readFileSync(file, "utf8");
  const { code, mutants } = mutantsOf(text);
  const lines = text.split("\n");
  const open = mutants.filter((it) => !isAccepted(name, lines, it));
  const last = again ? lastSurvivors(name, mutants) : undefined;
  const tried = open.filter(({ id }) => last?.has(id) ?? true);
  const files = tests.map((it) => resolve(root, it));
  const start = performance.now();
  const survivors = [];
  for (let at = 0; at < tried.length; at += together) {
    let part = tried.slice(at, at + together);
    // The first file kills most of them, so the others run for the rest only.
    for (const some of [files.slice(0, 1), files.slice(1)]) {
      if (part.length === 0 || some.length === 0) break;
      const all = [unchanged, ...part.map(({ id }) => id)];
      const found = await killed(file, code, all, some, isolated.has(name));
      if (found.has(unchanged)) throw new Error(`${name}: its tests do not load, or block, without a mutant`);
      part = part.filter(({ id }) => !found.has(id));
    }
    for (const it of part) {
      survivors.push(it.id);
      console.log(`${name}:${it.line}  ${short(it.from)}  →  ${short(it.to)}`);
    }
  }
  mkdirSync(dirname(lastOf(name)), { recursive: true });
  writeFileSync(lastOf(name), JSON.stringify({ print: printOf(mutants), survivors }));
  const dead = open.length - survivors.length;
  const seconds = Math.round((performance.now() - start) / 1000);
  const percent = Math.floor((100 * dead) / Math.max(1, open.length));
  console.log(
    `${name}: ${dead} of ${open.length} killed (${percent} %), ${mutants.length - open.length} accepted, ${seconds} s`,
  );
  return { dead, all: open.length };
}

function refuse(reason) {
  console.error(`scripts/mutation: ${reason}`);
  process.exit(2);
}

const wanted = process.argv.slice(2).filter((it) => !it.startsWith("-"));
const again = process.argv.includes("--again");
const chosen = Object.entries(targets).filter(
  ([name]) => wanted.length === 0 || wanted.some((it) => name.includes(it)),
);
for (const it of missingFiles(root)) refuse(`targets.mjs names ${it}, which does not exist: change the path`);
if (chosen.length === 0) refuse(`no target has ${wanted.join(" or ")} in its path: see targets.mjs`);
let dead = 0;
let all = 0;
for (const [name, tests] of chosen) {
  const result = await check(name, tests);
  dead += result.dead;
  all += result.all;
}
console.log(`${dead} of ${all} mutants killed`);
process.exitCode = dead >= all * 0.95 ? 0 : 1;
