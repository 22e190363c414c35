import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim } from "../../src/index.ts";
import { startBoard } from "../query/board.ts";
import { runHere } from "./phx-sim.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startBoard();
  // loads what the commands call: they wait a short time for a sim
  await sim.query("SELECT 1");
});
afterAll(() => sim.close());

describe("phx-sim query", () => {
  const phx = (...args: string[]) =>
    runHere(["query", ...args, "--url", sim.url], { cwd: import.meta.dirname });

  test("prints a table, CSV and JSON", async () => {
    const text = "SELECT event, count() AS n FROM events GROUP BY event ORDER BY event LIMIT 2";
    expect(await phx(text)).toEqual({
      stderr: "",
      code: 0,
      stdout: "event     n\nbasket    3\ncheckout  2\n",
    });
    expect(await phx("--insight", "Basket to order", "--csv")).toMatchObject({
      code: 0,
      stdout: "step,name,count,average_seconds\n1,basket,3,\n2,checkout,2,\n3,order,1,\n",
    });
    const { stdout } = await phx("--insight", "Orders", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      insight: { name: "Orders" },
      results: [{ aggregated_value: 2 }],
    });
  });

  test.each<[string, string[], RegExp]>([
    ["no query", [], /give HogQL, a file, or --insight NAME/],
    ["two queries", ["SELECT 1", "--insight", "Orders"], /QUERY and --insight exclude each other/],
    ["wrong HogQL", ["SELECT nope FROM events"], /nope.*\(line 1, column 8\)/],
    ["an unknown insight", ["--insight", "Odrers"], /there is no insight "Odrers"; did you mean "Orders"\?/],
    ["a file that does not exist", ["missing.sql"], /missing\.sql cannot be read/],
    ["two formats", ["SELECT 1", "--csv", "--json"], /--csv and --json exclude each other/],
  ])("refuses %s", async (_, args, says) => {
    const { code, stderr } = await phx(...args);
    expect(stderr).toMatch(says);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(2);
  });
});
