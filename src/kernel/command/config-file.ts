import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../base/json.ts";
import { JsonError, type PlacedJson, parsePlacedJson } from "../base/json-places.ts";
import { didYouMean } from "../base/nearest.ts";
import { readRegularFile } from "../base/regular-file.ts";
import { clean, cleanJson } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { kinds, type OptionKind, type Options, readValue } from "./options.ts";
import { reasonOf } from "./system-reason.ts";

const configName = "phx-sim.config.json";
const mostBytes = 1024 * 1024;

/** A section of the file that is no option; a slice adds its own to `Config`. */
export interface ConfigSection {
  readonly name: Exclude<keyof Config, "file" | "folder" | "texts">;
  /** @throws SectionError */
  read(value: unknown): unknown;
}

/** What is wrong with a section, and where in it: `rules[0].pattern`. */
export class SectionError extends Error {
  readonly path: string;

  constructor(path: string, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.name = "SectionError";
    this.path = path;
  }
}

export interface Config {
  readonly file: string;
  readonly folder: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** The nearest phx-sim.config.json at or above `folder`. @param options Called if there is one @throws Failure usage */
export async function findConfig(
  folder: string,
  options: () => Promise<Options>,
  sections: readonly ConfigSection[],
): Promise<Config | null> {
  for (const at of foldersUp(folder)) {
    const file = join(at, configName);
    const text = readIfThere(file);
    if (text === undefined) continue;
    return { file, folder: at, ...(await checked(file, at, text, await options(), sections)) };
  }
  return null;
}

function foldersUp(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

function readIfThere(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readRegularFile(file, mostBytes)
      .toString()
      .replace(/^\ufeff/, "");
  } catch (error) {
    throw new Failure("usage", `${clean(file)} cannot be read: ${reasonOf(error)}`, error);
  }
}

/** Comments and trailing commas are allowed, as in a scenario. */
async function parsed(file: string, text: string): Promise<PlacedJson> {
  try {
    const read = await parsePlacedJson(text);
    const [mistake] = read.mistakes;
    if (mistake) throw new JsonError(mistake);
    return read;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { line, column, message } = error.mistake;
    throw new Failure("usage", `${clean(file)}:${line}:${column}: ${message}`, error);
  }
}

function sectionIn(
  file: string,
  { name, read }: ConfigSection,
  value: unknown,
  positionOf: PlacedJson["positionOf"],
): unknown {
  try {
    return read(value);
  } catch (error) {
    if (!(error instanceof SectionError)) throw error;
    const keys = error.path.split(/[.[\]]+/).filter((it) => it !== "");
    const path = [name, ...keys.map((it) => (/^\d+$/.test(it) ? Number(it) : it))];
    const { line, column } = positionOf(path);
    const place = [name, ...(error.path === "" ? [] : [error.path])].join(".");
    throw new Failure("usage", clean(`${file}:${line}:${column}: "${place}" ${error.message}`, 1000), error);
  }
}

async function checked(
  file: string,
  folder: string,
  text: string,
  options: Options,
  sections: readonly ConfigSection[],
): Promise<Omit<Config, "file" | "folder">> {
  const { value, positionOf } = await parsed(file, text);
  if (!isObject(value)) throw new Failure("usage", `${clean(file)}:1:1: expected an object such as {"port": 7490}`);
  const texts = new Map<string, string>();
  const found = new Map<string, unknown>();
  for (const [key, entry] of Object.entries(value)) {
    const section = sections.find((it) => it.name === key);
    if (section) found.set(key, sectionIn(file, section, entry, positionOf));
    if (section || key === "$schema") continue;
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    const { line, column } = positionOf([key], true);
    const where = `${clean(file)}:${line}:${column}: "${clean(key)}"`;
    if (!option) throw new Failure("usage", `${where} is not an option${didYouMean(key, Object.keys(options))}`);
    const { json, expects, isSecret }: OptionKind = kinds[option.kind ?? "text"];
    if (typeof entry !== json) {
      const hint = json === "string" ? `${expects}, as a string` : expects;
      const given = isSecret ? "" : `, not ${cleanJson(entry)}`;
      throw new Failure("usage", `${where} must be ${hint}${given}`);
    }
    readValue(option, String(entry), where, folder);
    texts.set(key, String(entry));
  }
  return { texts, ...Object.fromEntries(found) };
}
