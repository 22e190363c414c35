import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../kernel/json.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type Kind, kinds } from "./kinds.ts";
import { type Options, readValue } from "./options.ts";

const configName = "phx-sim.config.json";

/** A checked config file: option name → value as text. Relative paths in it start from `folder`. */
export interface Config {
  readonly file: string;
  readonly folder: string;
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * The nearest phx-sim.config.json at or above `folder`, checked against `options`; null when there is none.
 * Throws a usage failure with file:line:col for bad JSON, with the file and the key for the rest.
 */
export function findConfig(folder: string, options: Options): Config | null {
  for (const at of foldersUp(folder)) {
    const file = join(at, configName);
    const text = readIfThere(file);
    if (text !== undefined) return { file, folder: at, texts: checked(file, at, text, options) };
  }
  return null;
}

/** Is there a config file at or above the folder? */
export const hasConfig = (folder: string): boolean =>
  foldersUp(folder).some((at) => existsSync(join(at, configName)));

function foldersUp(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Failure("usage", `cannot read ${clean(file)}: ${code}`, error);
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    throw new Failure("usage", `${clean(file)}:${line}:${column}: this is not JSON`, error);
  }
}

function checked(file: string, folder: string, text: string, options: Options): Map<string, string> {
  const value = parsed(file, text);
  if (!isObject(value)) throw new Failure("usage", `${clean(file)} must hold a JSON object`);
  const texts = new Map<string, string>();
  for (const [key, entry] of Object.entries(value)) {
    if (key === "$schema") continue;
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    const where = `${clean(file)}: "${clean(key)}"`;
    if (!option)
      throw new Failure("usage", `${where} is not an option${didYouMean(key, Object.keys(options))}`);
    const { json, expects, isSecret }: Kind = kinds[option.kind];
    if (typeof entry !== json) {
      const hint = json === "string" ? `${expects}, as a string` : expects;
      const given = isSecret ? "" : `, not ${clean(JSON.stringify(entry))}`;
      throw new Failure("usage", `${where} must be ${hint}${given}`);
    }
    readValue(option, String(entry), where, folder);
    texts.set(key, String(entry));
  }
  return texts;
}
