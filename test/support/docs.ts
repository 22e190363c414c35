import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The package's folder. */
export const root = join(import.meta.dirname, "../..");

/** README.md and everything in docs/, as paths from the package's folder. */
export const docFiles: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`)
    .sort(),
];

export const readDoc = (file: string): string => readFileSync(join(root, file), "utf8");

/** A fenced block of code. */
export interface Block {
  readonly file: string;
  /** Line of its opening fence, from 1. */
  readonly line: number;
  /** "" if the fence names none. */
  readonly language: string;
  readonly code: string;
}

/** The blocks of one file, also those inside lists. */
function blocksIn(file: string): Block[] {
  const text = readDoc(file);
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map((found) => {
    const [, indent = "", language = "", code = ""] = found;
    const line = text.slice(0, found.index).split("\n").length;
    return { file, line, language, code: code.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
  });
}

export const allBlocks = (): Block[] => docFiles.flatMap(blocksIn);

/** The code of a page's blocks of a language that contain a word. */
export const blocksOf = (file: string, language: string, word = ""): string[] =>
  blocksIn(file)
    .filter((it) => it.language === language && it.code.includes(word))
    .map((it) => it.code);
