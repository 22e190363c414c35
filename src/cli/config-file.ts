import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import { readRegularFile } from "../base/regular-file.ts";
import type { ParsedPlan } from "../plan/read-plan.ts";
import { RedactionRuleError, type RedactionRules, readRules } from "../tapes/redact/rules.ts";
import { clean, cleanJson } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { kinds, type OptionKind, type Options, readValue } from "./options.ts";
import { reasonOf } from "./system-reason.ts";

const configName = "phx-sim.config.json";
const mostBytes = 1024 * 1024;

/** A checked config file. */
export interface Config {
  readonly file: string;
  /** The base of relative paths in it. */
  readonly folder: string;
  /** Option name → value as text. */
  readonly texts: ReadonlyMap<string, string>;
  /** The project's rules for tapes; no option, as a flag could not express them. */
  readonly redaction?: Required<RedactionRules>;
}

/**
 * The nearest phx-sim.config.json at or above `folder`; null without one.
 * @param options Every option that it may set; called only if there is a file
 * @throws Failure usage, with file:line:col
 */
export async function findConfig(folder: string, options: () => Promise<Options>): Promise<Config | null> {
  for (const at of foldersUp(folder)) {
    const file = join(at, configName);
    const text = readIfThere(file);
    if (text !== undefined) return { file, folder: at, ...(await checked(file, at, text, await options())) };
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
async function parsed(file: string, text: string): Promise<ParsedPlan> {
  const { parsePlanText: parseJsonWithComments } = await import("../plan/read-plan.ts");
  const { PlanError } = await import("../plan/plan.ts");
  try {
    const read = await parseJsonWithComments(text, file);
    if (read.problems.length > 0) throw new PlanError(read.problems);
    return read;
  } catch (error) {
    const [problem] = error instanceof PlanError ? error.problems : [];
    if (!problem) throw error;
    const { line, column, message } = problem;
    throw new Failure("usage", `${clean(file)}:${line}:${column}: ${message}`, error);
  }
}

/** @throws Failure usage */
function redactionIn(
  file: string,
  value: unknown,
  positionOf: ParsedPlan["positionOf"],
): Required<RedactionRules> {
  try {
    return readRules(value);
  } catch (error) {
    if (!(error instanceof RedactionRuleError)) throw error;
    const keys = error.path.split(/[.[\]]+/).filter((it) => it !== "");
    const path = ["redaction", ...keys.map((it) => (/^\d+$/.test(it) ? Number(it) : it))];
    const { line, column } = positionOf(path);
    const place = ["redaction", ...(error.path === "" ? [] : [error.path])].join(".");
    throw new Failure("usage", clean(`${file}:${line}:${column}: "${place}" ${error.message}`, 1000), error);
  }
}

async function checked(
  file: string,
  folder: string,
  text: string,
  options: Options,
): Promise<Pick<Config, "texts" | "redaction">> {
  const { value, positionOf } = await parsed(file, text);
  if (!isObject(value))
    throw new Failure("usage", `${clean(file)}:1:1: expected an object such as {"port": 7490}`);
  const texts = new Map<string, string>();
  for (const [key, entry] of Object.entries(value)) {
    if (key === "$schema" || key === "redaction") continue;
    const option = Object.hasOwn(options, key) ? options[key] : undefined;
    const { line, column } = positionOf([key], true);
    const where = `${clean(file)}:${line}:${column}: "${clean(key)}"`;
    if (!option)
      throw new Failure("usage", `${where} is not an option${didYouMean(key, Object.keys(options))}`);
    const { json, expects, isSecret }: OptionKind = kinds[option.kind];
    if (typeof entry !== json) {
      const hint = json === "string" ? `${expects}, as a string` : expects;
      const given = isSecret ? "" : `, not ${cleanJson(entry)}`;
      throw new Failure("usage", `${where} must be ${hint}${given}`);
    }
    readValue(option, String(entry), where, folder);
    texts.set(key, String(entry));
  }
  if (!Object.hasOwn(value, "redaction")) return { texts };
  return { texts, redaction: redactionIn(file, value.redaction, positionOf) };
}
