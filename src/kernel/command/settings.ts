import type { Json } from "../base/json.ts";
import type { Config } from "./config-file.ts";
import { Failure } from "./failure.ts";
import { type Option, type Options, readValue, spelledOption, type ValueOf, variableOf } from "./options.ts";

/** Options given on the command line, as text; switches as booleans, repeatable ones as lists. */
export type OptionTexts = Readonly<Record<string, string | boolean | readonly string[]>>;

export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly config: Config | null;
}

/** Nearer sources win. */
const sources = ["flag", "environment", "config", "default"] as const;

/** Where a value came from: `where` is `--port`, `PHX_SIM_PORT`, the config file's path, or `default`. */
interface Origin {
  readonly source: (typeof sources)[number];
  readonly where: string;
}

export interface Settings<O extends Options> {
  readonly values: { readonly [K in keyof O]: ValueOf<O[K]> };
  readonly origins: { readonly [K in keyof O]: Origin };
}

interface Found extends Origin {
  readonly value: Json | undefined;
}

/** Flag, then PHX_SIM_* variable, then config file, then default. @throws Failure usage: unreadable, or excluded */
export function resolveSettings<O extends Options>(
  options: O,
  flags: OptionTexts,
  around: SettingSources,
): Settings<O> {
  const found = new Map(
    Object.entries(options).map(([name, option]) => [name, find(name, option, flags[name], around)]),
  );
  for (const [name, { excludes }] of Object.entries(options)) {
    const loser = excludes && exclusionLoser([name, found.get(name)], [excludes, found.get(excludes)]);
    const option = loser && options[loser];
    if (option) found.set(loser, find(loser, option, undefined, { env: {}, cwd: around.cwd, config: null }));
  }
  const pick = <T>(part: (it: Found) => T) => Object.fromEntries([...found].map(([name, it]) => [name, part(it)]));
  // The table defines the type of each value; the compiler cannot follow it through the map.
  return { values: pick((it) => it.value), origins: pick(({ source, where }) => ({ source, where })) } as Settings<O>;
}

function find(
  name: string,
  option: Option,
  flag: OptionTexts[string] | undefined,
  { cwd, env, config }: SettingSources,
): Found {
  const where = spelledOption(name, option);
  if (option.many) {
    const value = [flag ?? []].flat().map((text) => readValue(option, String(text), where, cwd));
    return value.length > 0 ? { source: "flag", where, value } : { source: "default", where: "default", value };
  }
  const read = (source: Origin["source"], from: string, text: string, folder = cwd): Found => ({
    source,
    where: from,
    value: readValue(option, text, from, folder),
  });
  if (flag !== undefined) return read("flag", where, String(flag));
  if (option.configurable) {
    const variable = variableOf(name);
    // An empty variable counts as not set: `PHX_SIM_DATA= phx-sim start` is how shells unset one for a single run.
    const text = env[variable];
    if (text) return read("environment", variable, text);
    const entry = config?.texts.get(name);
    if (config && entry !== undefined) return read("config", config.file, entry, config.folder);
  }
  const fallback = option.default ?? (option.kind === "switch" ? "false" : undefined);
  return fallback === undefined
    ? { source: "default", where: "default", value: undefined }
    : read("default", "default", fallback);
}

type Named = readonly [name: string, found: Found | undefined];

/** Of two that exclude each other and are on, the one of the farther source. @throws Failure usage for one source */
function exclusionLoser([name, one]: Named, [other, two]: Named): string | undefined {
  const isOn = (it: Found): boolean => it.value !== false && it.source !== "default";
  if (!one || !two || !isOn(one) || !isOn(two)) return undefined;
  if (one.source !== two.source) return sources.indexOf(one.source) > sources.indexOf(two.source) ? name : other;
  const [first, second] = one.source === "config" ? [`"${name}"`, `"${other}"`] : [one.where, two.where];
  throw new Failure("usage", `${first} and ${second} exclude each other; give one of them`);
}
