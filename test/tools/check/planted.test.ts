import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, checkApp, openBench } from "./check-app.ts";
import { planted, sound } from "./planted.ts";

/** `npm run check:planted` checks all of them and prints the table; PLANTED can name some: `memory,two-users`. */
const chosen = process.env.PLANTED;
const isChosen = ({ app, quick }: { app: string; quick?: true }): boolean =>
  chosen === undefined ? quick === true : chosen === "all" || chosen.split(",").some((it) => app.startsWith(it));

let bench: Bench;
const table: string[] = [];

beforeAll(async () => {
  bench = await openBench();
});

afterAll(async () => {
  await bench?.browser.close();
  if (chosen !== undefined) console.log(["", ...table.toSorted()].join("\n"));
});

/** The codes of what is reported as an error or a warning. */
async function codesOf(app: string): Promise<string[]> {
  const { findings } = await checkApp(app, bench);
  return findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);
}

const line = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

describe.concurrent("apps with a mistake", () => {
  const apps = planted.filter(isChosen);
  test.each(apps)("$app: $code", async ({ app, fault, code }) => {
    const codes = await codesOf(app);
    const others = codes.filter((it) => it !== code).join(", ");
    table.push(line(app, fault, code, codes.includes(code) ? "found" : "MISSED", others));
    expect(codes).toContain(code);
  });
});

describe.concurrent("sound apps", () => {
  const apps = sound.filter(isChosen);
  test.each(apps)("$app", async ({ app }) => {
    const codes = await codesOf(app);
    table.push(line(app, "none", "", codes.length === 0 ? "nothing" : "REPORTED", codes.join(", ")));
    expect(codes).toEqual([]);
  });
});

test("each app is listed once", () => {
  const names = [...planted, ...sound].map(({ app }) => app);
  expect(new Set(names).size).toBe(names.length);
});
