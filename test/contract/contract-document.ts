import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The contract itself, which lies beside the repository while it is made and is not part of the package. */
const file = join(import.meta.dirname, "../../../shared/spec/analytics-service-api.md");

export const isAtHand = existsSync(file);

const isRow = (line: string): boolean => line.startsWith("|");

/** A cell's text; a pipe in a cell does not occur. */
const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((it) => it.trim());

/** The tables below a heading, without their head and rule. */
export function tablesBelow(heading: string): string[][][] {
  const text = readFileSync(file, "utf8");
  const section = text.split(/^#{2,3} /m).find((it) => it.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the contract has no section "${heading}"`);
  const tables: string[][][] = [];
  let before = "";
  for (const line of section.split("\n")) {
    if (isRow(line)) {
      if (!isRow(before)) tables.push([]);
      tables.at(-1)?.push(cellsOf(line));
    }
    before = line;
  }
  return tables.map((rows) => rows.slice(2));
}
