import { afterAll, describe, expect, test } from "vitest";
import { installed } from "../../bench/install.ts";
import { openSim } from "../../support/sim.ts";
import { broken, type Configuration, sound } from "./configurations.ts";
import { programs, startProxy } from "./servers.ts";

/** `npm run check:proxies` checks all and prints the table; PROXIES can name some: `nginx,vite`. */
const chosen = process.env.PROXIES;

if (chosen === "all" || chosen?.includes("next")) await installed("phx-proxies/next", "next@16.4.6");

const table: string[] = [];

const { sim } = await openSim();

afterAll(async () => {
  if (chosen !== undefined) console.log(["", ...table.toSorted()].join("\n"));
});

/** Next.js takes seconds to start: only where it is asked for. */
const isChosen = ({ program }: Configuration): boolean =>
  chosen === undefined ? program !== "next" : chosen === "all" || chosen.split(",").includes(program);

const line = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

async function checked({ program, what, code, files }: Configuration) {
  const proxy = await startProxy(program, files, sim.url);
  try {
    const report = await sim.proxies.check(proxy.url, { timeoutMs: 20_000 });
    const levelled = (wanted: string) => report.findings.filter(({ level }) => level === wanted).map((it) => it.code);
    const problems = levelled("problem");
    const isRight = code === undefined ? problems.length === 0 : problems.includes(code);
    table.push(
      line(program, what, code ?? "", isRight ? "right" : "WRONG", problems.join(", "), levelled("warning").join(", ")),
    );
    return { report, problems, warnings: levelled("warning") };
  } finally {
    await proxy.close();
  }
}

const rows = [...sound, ...broken].filter(isChosen);

describe.each(Object.entries(programs))("%s", (name, program) => {
  const own = rows.filter((it) => it.program === name);
  const missing = own.length === 0 ? undefined : program.missing();
  if (own.length === 0) return void test.skip("runs with npm run check:proxies", () => {});
  if (missing !== undefined) {
    // in CI a missing program is a failure
    if (process.env.CI || chosen !== undefined) return void test("is installed", () => expect.fail(missing));
    console.log(`skipped: ${missing}`);
    return void test.skip(missing, () => {});
  }
  test.each(own)("$what: $code", { timeout: 120_000 }, async (configuration) => {
    const { problems, warnings, report } = await checked(configuration);
    const { code, warnings: deserved = [] } = configuration;
    expect(problems).toEqual(code === undefined ? [] : [code]);
    if (code === undefined) expect(warnings).toEqual(deserved);
    expect(report.frameworks[0]).toBe(name);
    expect(report.passed).toBe(code === undefined);
  });
});

test("the bar: twelve broken and eight sound ones, each listed once", () => {
  expect(broken.length).toBeGreaterThanOrEqual(12);
  expect(sound.length).toBeGreaterThanOrEqual(8);
  const names = [...broken, ...sound].map(({ program, what }) => `${program}: ${what}`);
  expect(new Set(names).size).toBe(names.length);
});
