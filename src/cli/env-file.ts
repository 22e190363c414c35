import { isUtf8 } from "node:buffer";
import { statSync } from "node:fs";
import { shortened } from "../kernel/base/problem.ts";
import { readRegularFile } from "../kernel/base/regular-file.ts";
import { counted } from "../kernel/base/text.ts";
import { writeWhole } from "../kernel/base/whole-file.ts";
import { clean } from "../kernel/command/clean-text.ts";
import type { Shell } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import { reasonOf } from "../kernel/command/system-reason.ts";
import { syntaxes } from "../lab/egress/env-lines.ts";
import type { EnvGroup } from "../lab/egress/env-names.ts";

const mostBytes = 16 * 1024 * 1024;

const nameIn = (line: string): string | undefined => /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1];

/** Sets the variables in a file: their lines are replaced, new ones added, all others stay. @returns what was done */
export async function writeVariables(file: string, groups: readonly EnvGroup[], { cwd }: Shell): Promise<string> {
  const shown = clean(shortened(file, cwd));
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    const bytes = found ? readRegularFile(file, mostBytes) : Buffer.alloc(0);
    if (bytes.includes(0))
      throw new Failure("failed", `${shown} is not a text of UTF-8 (UTF-16?); save it as UTF-8, and try again`);
    // bytes of another encoding stay as they are: the variables are ASCII
    const encoding = isUtf8(bytes) ? "utf8" : "latin1";
    const text = Buffer.from(withVariables(bytes.toString(encoding), groups), encoding);
    await writeWhole(file, [text], found ? found.mode & 0o777 : 0o600);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("failed", `${shown} cannot be written: ${reasonOf(error)}`, error);
  }
  return `${counted(groups.flatMap(({ variables }) => variables).length, "variable")} set in ${shown}`;
}

/** The entries of a variables file: a line each, or all lines of a value in quotes. */
const entriesIn = (text: string): string[] =>
  [
    ...`${text}\n`.matchAll(
      /([ \t]*(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=[ \t]*(?:"(?:\\[\s\S]|[^"\\])*"|'[^']*'|`[^`]*`)[^\n]*|[^\n]*)\n/g,
    ),
  ].map(([, entry = ""]) => entry);

/** The text with these variables. A name that is set more than once keeps its last line, which counts. */
function withVariables(text: string, groups: readonly EnvGroup[]): string {
  const lines = text === "" ? [] : entriesIn(text.replace(/\n$/, ""));
  // in a file with both ends of lines, each line keeps its own
  const end = text.includes("\r\n") ? "\r" : "";
  if (end !== "" && !text.endsWith("\n")) lines.push(`${lines.pop()}\r`);
  const places = new Map(lines.map((line, i) => [nameIn(line), i]));
  const added = groups.flatMap(({ comments, variables, syntax }) => {
    const { comment, line } = syntaxes[syntax ?? "dotenv"];
    const missing = variables.flatMap(([name, value]) => {
      const at = places.get(name);
      if (at === undefined) return [line(name, value)];
      const before = lines[at] ?? "";
      const start = /^\s*export\s+/.exec(before)?.[0] ?? "";
      lines[at] = `${start}${line(name, value)}${before.endsWith("\r") ? "\r" : ""}`;
      return [];
    });
    return missing.length > 0 ? [...comments.map(comment), ...missing] : [];
  });
  const gap = lines.length > 0 && added.length > 0 && lines.at(-1)?.trim() !== "" ? [""] : [];
  return [...lines, ...[...gap, ...added].map((line) => `${line}${end}`), ""].join("\n");
}
