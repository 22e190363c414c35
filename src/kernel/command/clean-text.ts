import { spelledOut } from "../base/text.ts";

/** Text of unknown origin, safe on a terminal and on one line: unsafe characters are spelled out, length is capped. */
export function clean(text: string, limit = 400): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return spelledOut(cut);
}

export const cleanJson = (value: unknown, limit?: number): string => clean(JSON.stringify(value) ?? "", limit);

export const cleanLines = (text: string, limit = 400): string[] => text.split("\n").map((line) => clean(line, limit));

export const headerLines = (headers: readonly (readonly [name: string, value: string])[]): string[] =>
  headers.map(([name, value]) => `  ${clean(name, 100)}: ${clean(value, 1000)}`);
