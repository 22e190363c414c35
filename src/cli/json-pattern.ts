import { isObject, type JsonObject } from "../base/json.ts";
import { syntaxErrorAt } from "../base/json-syntax.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";

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
