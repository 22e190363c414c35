import { shellQuoted } from "../base/text.ts";
import { type Access, type EnvGroup, envGroups, frameworks } from "../egress/env-names.ts";
import { command, type Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { findRunning, type Running, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";

interface Syntax {
  comment(text: string): string;
  line(name: string, value: string): string;
}

/** How a line of each kind of file is written. */
const syntaxes: Readonly<Record<"dotenv" | "xcconfig", Syntax>> = {
  dotenv: { comment: (text) => `# ${text}`, line: (name, value) => `${name}=${value}` },
  // `//` begins a comment anywhere; the empty reference separates the slashes.
  xcconfig: {
    comment: (text) => `// ${text}`,
    line: (name, value) => `${name} = ${value.replaceAll("//", "/$()/")}`,
  },
};

const flat = (groups: readonly EnvGroup[]) => groups.flatMap(({ variables }) => variables);

/** How each format writes the variables, line by line. */
const writers = {
  dotenv: (groups: readonly EnvGroup[]): string[] =>
    groups.flatMap(({ comments, variables, syntax }: EnvGroup) => [
      ...comments.map(syntaxes[syntax ?? "dotenv"].comment),
      ...variables.map(([name, value]) => syntaxes[syntax ?? "dotenv"].line(name, value)),
    ]),
  // For `eval "$(phx-sim env --format shell)"`: no comments, as an unquoted eval would make the rest one long comment.
  shell: (groups: readonly EnvGroup[]): string[] =>
    flat(groups).map(([name, value]) => `export ${name}=${shellQuoted(value)}`),
  json: (groups: readonly EnvGroup[]): string[] => [
    JSON.stringify(Object.fromEntries(flat(groups)), null, 2),
  ],
  // For `phx-sim env --format github >> "$GITHUB_ENV"`, which has no comments.
  github: (groups: readonly EnvGroup[]): string[] => flat(groups).map(([name, value]) => `${name}=${value}`),
} as const;

type EnvFormat = keyof typeof writers;
const envFormats = ["dotenv", "shell", "json", "github"] as const satisfies readonly EnvFormat[];

export const envLines = (groups: readonly EnvGroup[], format: EnvFormat): string[] => writers[format](groups);

const options = {
  ...whereOptions,
  format: {
    kind: "text",
    describe: "Output format",
    default: "dotenv",
    choices: envFormats,
    flagOnly: true,
  },
  framework: {
    kind: "text",
    describe: "Only the names this framework reads",
    choices: frameworks,
    flagOnly: true,
  },
  json: { kind: "switch", describe: "The same as --format json", flagOnly: true },
} as const;

export const env = command({
  name: "env",
  describe: "Print the variables that point an app at the running sim",
  options,
  examples: [
    ["phx-sim env --framework next > .env.local", "for a Next.js app"],
    ["phx-sim env --framework android >> local.properties", "for an app on the Android emulator"],
    ['eval "$(phx-sim env --format shell)"', "for this shell"],
  ],
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const access = accessOf(await findRunning(settings, shell.cwd));
  const groups = envGroups(access, settings.values.framework);
  shell.out.say(...envLines(groups, settings.values.json ? "json" : settings.values.format));
  return "ok" as const;
}

/** A value with a line end or another control character would change the meaning of what is printed. */
const isPlain = (value: unknown): value is string =>
  typeof value === "string" && /^[\x21-\x7e]+$/.test(value);

function accessOf({ info, foundBy }: Running): Access {
  const { url, project_api_key, personal_api_key, project_id } = info;
  if (
    isPlain(url) &&
    isPlain(project_api_key) &&
    isPlain(personal_api_key) &&
    typeof project_id === "number"
  ) {
    return { url, project_api_key, personal_api_key, project_id };
  }
  throw new Failure(
    "no_sim",
    `the sim found by ${foundBy} does not report its keys; it may be of another version`,
  );
}
