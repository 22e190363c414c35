import { shellQuoted } from "../../kernel/base/text.ts";
import type { EnvGroup } from "./env-names.ts";

interface Syntax {
  comment(text: string): string;
  line(name: string, value: string): string;
}

export const syntaxes: Readonly<Record<"dotenv" | "xcconfig", Syntax>> = {
  dotenv: { comment: (text) => `# ${text}`, line: (name, value) => `${name}=${value}` },
  // `//` begins a comment anywhere; the empty reference separates the slashes.
  xcconfig: { comment: (text) => `// ${text}`, line: (name, value) => `${name} = ${value.replaceAll("//", "/$()/")}` },
};

const flat = (groups: readonly EnvGroup[]) => groups.flatMap(({ variables }) => variables);

const writers = {
  dotenv: (groups: readonly EnvGroup[]): string[] =>
    groups.flatMap(({ comments, variables, syntax }: EnvGroup) => [
      ...comments.map(syntaxes[syntax ?? "dotenv"].comment),
      ...variables.map(([name, value]) => syntaxes[syntax ?? "dotenv"].line(name, value)),
    ]),
  // For `eval "$(phx-sim env --format shell)"`: no comments, as an unquoted eval would make the rest one long comment.
  shell: (groups: readonly EnvGroup[]): string[] =>
    flat(groups).map(([name, value]) => `export ${name}=${shellQuoted(value)}`),
  json: (groups: readonly EnvGroup[]): string[] => [JSON.stringify(Object.fromEntries(flat(groups)), null, 2)],
  // For `phx-sim env --format github >> "$GITHUB_ENV"`, which has no comments.
  github: (groups: readonly EnvGroup[]): string[] => flat(groups).map(([name, value]) => `${name}=${value}`),
} as const;

type EnvFormat = keyof typeof writers;
export const envFormats = ["dotenv", "shell", "json", "github"] as const satisfies readonly EnvFormat[];

export const envLines = (groups: readonly EnvGroup[], format: EnvFormat): string[] => writers[format](groups);
