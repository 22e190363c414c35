import { readFileSync, writeFileSync } from "node:fs";

/** Replaces a line of a file, counted from 1; the bytes of the others stay as they are. */
export function rewriteLine(file: string, line: number, rewrite: (text: string) => string): void {
  const lines = readFileSync(file, "latin1").split("\n");
  lines[line - 1] = rewrite(lines[line - 1] ?? "");
  writeFileSync(file, lines.join("\n"), "latin1");
}
