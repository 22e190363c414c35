import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../../kernel/base/json-syntax.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { readEventFilter } from "../filter/read.ts";
import type { FilterReading } from "../filter/types.ts";

/** The filter, if it is valid. @throws Failure usage with the place of the mistake */
export function checkedFilter(
  text: string | undefined,
  read: (text: string) => FilterReading<never> = readEventFilter,
): string | undefined {
  if (text === undefined) return undefined;
  const reading = read(text);
  if ("filter" in reading) return text;
  const { at = 0, message = "", hint } = reading.problems[0] ?? {};
  const advice = hint === undefined ? "" : `; ${hint}`;
  throw new Failure("usage", clean(`--filter is wrong at character ${at + 1}: ${message}${advice}`));
}

const example = `{"properties":{"plan":"pro"}}`;

/** A pattern given as JSON, e.g. by --where. @throws Failure usage with the place of the mistake */
export function readPattern(text: string | undefined, where: string): JsonObject | undefined {
  if (text === undefined) return undefined;
  const value = parsed(text, where);
  if (isObject(value)) return value;
  throw new Failure("usage", `${where} must be a JSON object, e.g. '${example}', not ${clean(text, 80)}`);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    const at = line === 1 ? `at character ${column}` : `at ${line}:${column}`;
    throw new Failure("usage", `${where} is not JSON ${at}: ${clean(text, 80)}; e.g. '${example}'`, error);
  }
}
