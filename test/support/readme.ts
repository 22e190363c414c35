import { readFileSync } from "node:fs";
import { join } from "node:path";

export const readmePath = join(import.meta.dirname, "../../README.md");
export const readme = (): string => readFileSync(readmePath, "utf8");

/** The README's code blocks of a language that contain a word. */
export function blocksOf(language: string, word = ""): string[] {
  const blocks = readme().matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...blocks].map((found) => found[1] ?? "").filter((block) => block.includes(word));
}
