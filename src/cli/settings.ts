import type { Json } from "../kernel/json.ts";
import type { Config } from "./config-file.ts";
import { Failure } from "./failure.ts";
import { type Option, type Options, readValue, spelledOption, type ValueOf, variableOf } from "./options.ts";

/** Options given on the command line, as text; switches as booleans, those that may come often as lists. */
export type Flags = Readonly<Record<string, string | boolean | readonly string[]>>;

/** Everything a setting can come from besides the defaults in the table. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly config: Config | null;
}

/** Nearer sources win. */
const sources = ["flag", "environment", "config", "default"] as const;
type Source = (typeof sources)[number];

/** Where a value came from: `where` is `--port`, `PHX_SIM_PORT`, the config file's path, or `default`. */
interface Origin {
  readonly source: Source;
  readonly where: string;
}

export interface Settings<O extends Options> {
  readonly values: { readonly [K in keyof O]: ValueOf<O[K]> };
  readonly origins: { readonly [K in keyof O]: Origin };
}

interface Found extends Origin {
  readonly value: Json | undefined;
}

/**
 * The one place that decides: flag, then PHX_SIM_* variable, then config file, then default; and says
 * where each value
 * came from. Throws a usage failure for a value that cannot be read and for two options that exclude each
 * other.
 */
export function resolveSettings<O extends Options>(
  options: O,
  flags: Flags,
  around: Surroundings,
): Settings<O> {
  const found = new Map(
    Object.entries(options).map(([name, option]) => [name, find(name, option, flags, around)]),
  );
  for (const [name, { excludes }] of Object.entries(options)) {
    if (excludes) settleExclusion(options, found, [name, excludes], around.cwd);
  }
  const pick = <T>(part: (it: Found) => T) =>
    Object.fromEntries([...found].map(([name, it]) => [name, part(it)]));
  // The table says which value each name has; the compiler cannot follow it through the map.
  return {
    values: pick((it) => it.value),
    origins: pick(({ source, where }) => ({ source, where })),
  } as Settings<O>;
}

function find(name: string, option: Option, flags: Flags, around: Surroundings): Found {
  if (option.many) return findAll(name, option, flags[name], around.cwd);
  const given = candidates(name, option, flags, around).find(({ text }) => text !== undefined);
  if (given?.text === undefined) return fallback(option, around.cwd);
  const { source, where, text, folder } = given;
  return { source, where, value: readValue(option, text, where, folder) };
}

/** All the values of an option that may come often. */
function findAll(name: string, option: Option, given: Flags[string] | undefined, folder: string): Found {
  const texts = typeof given === "object" ? given : [];
  const where = spelledOption(name, option);
  const value = texts.map((text) => readValue(option, text, where, folder));
  return texts.length > 0 ? { source: "flag", where, value } : { source: "default", where: "default", value };
}

interface Candidate extends Origin {
  readonly text: string | undefined;
  readonly folder: string;
}

function candidates(name: string, option: Option, flags: Flags, around: Surroundings): Candidate[] {
  const { cwd, env, config } = around;
  const flag = flags[name];
  const rows: Candidate[] = [
    {
      source: "flag",
      where: spelledOption(name, option),
      text: flag === undefined ? undefined : String(flag),
      folder: cwd,
    },
  ];
  if (option.flagOnly) return rows;
  const variable = variableOf(name);
  // An empty variable counts as not set: `PHX_SIM_DATA= phx-sim start` is how shells unset one for a
  // single run.
  rows.push({ source: "environment", where: variable, text: env[variable] || undefined, folder: cwd });
  if (config) {
    rows.push({ source: "config", where: config.file, text: config.texts.get(name), folder: config.folder });
  }
  return rows;
}

function fallback(option: Option, cwd: string): Found {
  const text = option.default ?? (option.kind === "switch" ? "false" : undefined);
  const value = text === undefined ? undefined : readValue(option, text, "default", cwd);
  return { source: "default", where: "default", value };
}

const isOn = (found: Found | undefined): found is Found =>
  found !== undefined && found.source !== "default" && found.value !== false;

/**
 * Of two that exclude each other the nearer source wins, the other gets its default; from one source it is
 * a mistake.
 */
function settleExclusion(
  options: Options,
  found: Map<string, Found>,
  [name, other]: readonly [string, string],
  cwd: string,
): void {
  const [one, two] = [found.get(name), found.get(other)];
  if (!isOn(one) || !isOn(two)) return;
  if (one.source === two.source) {
    const [first, second] = one.source === "config" ? [`"${name}"`, `"${other}"`] : [one.where, two.where];
    throw new Failure("usage", `${first} and ${second} exclude each other; give one of them`);
  }
  const loser = sources.indexOf(one.source) > sources.indexOf(two.source) ? name : other;
  const option = options[loser];
  if (option) found.set(loser, fallback(option, cwd));
}
