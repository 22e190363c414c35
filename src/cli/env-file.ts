import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { shortened } from "../base/problem.ts";
import { counted } from "../base/text.ts";
import { writeWhole } from "../base/whole-file.ts";
import type { EnvGroup } from "../egress/env-names.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { syntaxes } from "./env-lines.ts";
import { Failure } from "./failure.ts";
import { reasonOf } from "./system-reason.ts";

/** The name that a line of a variables file sets. */
const nameIn = (line: string): string | undefined => /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1];

/** Sets the variables in a file: their lines are replaced, new ones added, all others stay. @returns what was done */
export async function writeVariables(
  file: string,
  groups: readonly EnvGroup[],
  { cwd }: Shell,
): Promise<string> {
  const shown = clean(shortened(file, cwd));
  try {
    const target = existsSync(file) ? realpathSync(file) : file;
    const text = existsSync(target) ? readFileSync(target, "utf8") : "";
    const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600;
    await writeWhole(target, [withVariables(text, groups)], mode);
  } catch (error) {
    throw new Failure("failed", `${shown} cannot be written: ${reasonOf(error)}`, error);
  }
  return `${counted(groups.flatMap(({ variables }) => variables).length, "variable")} set in ${shown}`;
}

/** The text with these variables. A name that is set more than once keeps its last line, which counts. */
function withVariables(text: string, groups: readonly EnvGroup[]): string {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const places = new Map(lines.map((line, i) => [nameIn(line), i]));
  const added = groups.flatMap(({ comments, variables, syntax }) => {
    const { comment, line } = syntaxes[syntax ?? "dotenv"];
    const missing = variables.flatMap(([name, value]) => {
      const at = places.get(name);
      if (at === undefined) return [line(name, value)];
      lines[at] = `${/^\s*export\s+/.exec(lines[at] ?? "")?.[0] ?? ""}${line(name, value)}`;
      return [];
    });
    return missing.length > 0 ? [...comments.map(comment), ...missing] : [];
  });
  const gap = lines.length > 0 && added.length > 0 && lines.at(-1) !== "" ? [""] : [];
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return [...lines, ...gap, ...added, ""].join(end);
}
