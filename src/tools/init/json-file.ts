import { existsSync, readFileSync } from "node:fs";
import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../kernel/base/json-syntax.ts";
import { shortened } from "../../kernel/base/problem.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";

/** The text of a file; undefined if it does not exist. @throws Failure */
export function readIfThere(file: string, folder: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Failure("failed", `${clean(shortened(file, folder))} cannot be read: ${reasonOf(error)}`, error);
  }
}

export interface JsonFile {
  readonly text: string;
  readonly value: JsonObject;
}

/** Undefined if the file does not exist. @throws Failure with file:line:col if it is no JSON object */
export function readJsonFile(file: string, folder: string): JsonFile | undefined {
  const text = readIfThere(file, folder)?.replace(/^\ufeff/, "");
  if (text === undefined) return undefined;
  const name = clean(shortened(file, folder));
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { text, value };
  } catch (error) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    const fix = "repair the file, then run phx-sim init again; nothing was written";
    throw new Failure("failed", `${name}:${line}:${column}: this is not JSON; ${fix}`, error);
  }
  throw new Failure("failed", `${name}:1:1: expected a JSON object; nothing was written`);
}

/** JSON in the file's own indentation and line ends. */
export function jsonLike(text: string, value: JsonObject): string {
  const indent = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  const made = `${JSON.stringify(value, null, indent)}\n`;
  return text.includes("\r\n") ? made.replaceAll("\n", "\r\n") : made;
}
