import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { runHere } from "../../support/phx-sim.ts";
import { startBoard } from "./board.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startBoard();
  // loads what the commands call: they wait a short time for a sim
  await sim.query("SELECT 1");
});
afterAll(() => sim.close());

describe("phx-sim query", () => {
  const phx = (...args: string[]) => runHere(["query", ...args, "--url", sim.url], { cwd: import.meta.dirname });

  test("prints a table, CSV and JSON", async () => {
    const text = "SELECT event, count() AS n FROM events GROUP BY event ORDER BY event LIMIT 2";
    expect(await phx(text)).toEqual({ stderr: "", code: 0, stdout: "event     n\nbasket    3\ncheckout  2\n" });
    expect(await phx("--insight", "Basket to order", "--csv")).toMatchObject({
      code: 0,
      stdout: "step,name,count,average_seconds\n1,basket,3,\n2,checkout,2,\n3,order,1,\n",
    });
    const { stdout } = await phx("--insight", "Orders", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ insight: { name: "Orders" }, results: [{ aggregated_value: 2 }] });
  });

  test.each<[string, string | object, RegExp]>([
    ["bom.sql", "\ufeffSELECT 1 AS one", /^one\n {2}1\n$/],
    ["bom.json", `\ufeff${JSON.stringify({ kind: "HogQLQuery", query: "SELECT 1 AS one" })}`, /^one\n {2}1\n$/],
    ["schema.json", { kind: "DatabaseSchemaQuery" }, /\nevents +`\$session_id` +string\n/],
    [
      "check.json",
      { kind: "HogQLMetadata", language: "hogQL", query: "select nope from events" },
      /^error +start +end\nUnable to resolve field: nope +7 +11\n$/,
    ],
    ...["ActorsQuery", "PathsQuery", "WebOverviewQuery", "WebStatsTableQuery", "TracesQuery"].map(
      (kind): [string, object, RegExp] => [
        `${kind}.json`,
        { kind },
        new RegExp(`Unsupported query kind: ${kind}\\. PostHog has it, phx-sim does not emulate it`),
      ],
    ),
  ])("reads %s", async (name, content, output) => {
    const folder = newFolder();
    const file = join(folder, name);
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    const { stdout, stderr } = await phx(file);
    expect(stdout + stderr).toMatch(output);
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
