import { spawnSync } from "node:child_process";
import { parse as parseYaml } from "yaml";
import { commands } from "../../src/cli/commands.ts";
import { readArgs } from "../../src/kernel/command/read-args.ts";
import { allBlocks, type Block, docFiles, readDoc } from "./docs.ts";

/** A command that a page shows to its reader. */
export interface TypedCommand {
  /** README.md, docs/events.md, or `phx-sim events list --help`. */
  readonly page: string;
  /** Its line in the page, from 1; for help texts that of the example. */
  readonly line: number;
  /** As a shell takes it, without the comment at its end. */
  readonly text: string;
}

/** True if a shell takes the text as a whole: no quote or bracket is open. */
const isWhole = (text: string): boolean =>
  !text.endsWith("\\") && spawnSync("bash", ["-n"], { input: `${text}\n` }).status === 0;

/** The commands of a script, each with the number of its first line from 0. */
function commandsIn(script: string): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = [];
  let open = "";
  for (const [line, written] of script.split("\n").entries()) {
    const text = open + written.replace(/^\$ /, "").replace(/ +#(?: .*)?$/, "");
    const isEmpty = open === "" && /^\s*(?:#.*)?$/.test(text);
    if (isEmpty) continue;
    const lines = text.split("\n").length;
    if (isWhole(text)) found.push({ line: line + 1 - lines, text });
    open = isWhole(text) ? "" : `${text}\n`;
  }
  if (open !== "") throw new Error(`not a whole command: ${open}`);
  return found;
}

/** What a workflow of GitHub (`run`) and a job of GitLab (`script`) have a shell do. */
function scriptsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scriptsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, it]) => {
    if (key === "run" && typeof it === "string") return [it];
    // What an action gets, it runs in its own way.
    if (key === "with") return [];
    return key === "script" && Array.isArray(it) ? it.map(String) : scriptsIn(it);
  });
}

const inBlock = ({ file: page, line, language, code }: Block): TypedCommand[] => {
  if (/^(?:sh|bash|shell|console|zsh)$/.test(language))
    return commandsIn(code).map((it) => ({ page, line: line + 1 + it.line, text: it.text }));
  if (language !== "yaml") return [];
  return scriptsIn(parseYaml(code)).flatMap((script) => commandsIn(script).map(({ text }) => ({ page, line, text })));
};

/** A command or an option that the text only names, such as `phx-sim tape` or `phx-sim exec --reroute`. */
function isName(text: string): boolean {
  const [program, ...words] = text.replace(/^npx /, "").split(" ");
  if (program !== "phx-sim") return false;
  const isCommand = commands.some(({ name, group }) => [name, group?.name].includes(words.join(" ")));
  if (isCommand) return true;
  try {
    readArgs(words, commands);
    return false;
  } catch {
    return true;
  }
}

/** `npx phx-sim …` and `npm …` in the text; KEY, … and | stand for what a reader puts there. */
function inText(page: string): TypedCommand[] {
  const outside = readDoc(page).replaceAll(/^( *)```[\s\S]*?^\1```$/gm, (block) =>
    "\n".repeat(block.split("\n").length - 1),
  );
  return [...outside.matchAll(/`((?:npx|npm|pip|phx-sim(?= .* )) [^`|<]*)`/g)]
    .map(({ 1: text = "", index }) => ({ page, line: outside.slice(0, index).split("\n").length, text }))
    .filter(({ text }) => !isName(text) && !/\b[A-Z]{2,}\b| …/.test(text));
}

/** Blocks that are made from the tables of commands: their examples are those of the help texts. */
const isGenerated = ({ file, line }: Block): boolean => {
  const before = readDoc(file).split("\n").slice(0, line).join("\n");
  return before.lastIndexOf("<!-- generated:") > before.lastIndexOf("<!-- /generated -->");
};

const inHelp: readonly TypedCommand[] = commands.flatMap(({ name, examples }) =>
  examples.map(([text], at) => ({ page: `phx-sim ${name} --help`, line: at + 1, text })),
);

/** All of them, page by page in the order of reading. */
export const typedCommands = (): TypedCommand[] => [
  ...docFiles.flatMap((page) =>
    [
      ...allBlocks()
        .filter((it) => it.file === page && !isGenerated(it))
        .flatMap(inBlock),
      ...inText(page),
    ].toSorted((a, b) => a.line - b.line),
  ),
  ...inHelp,
];
