import { arrayFunctions } from "./arrays.ts";
import { conversionFunctions } from "./conversions.ts";
import { dateFunctions } from "./dates.ts";
import { jsonFunctions } from "./json.ts";
import { numberFunctions } from "./numbers.ts";
import type { FunctionRow } from "./row.ts";
import { stringFunctions } from "./strings.ts";

/** The functions of HogQL that are supported. Arguments as in the service: posthog/hogql/functions. */
export const functions: ReadonlyMap<string, FunctionRow> = new Map(
  [
    ...numberFunctions,
    ...stringFunctions,
    ...conversionFunctions,
    ...dateFunctions,
    ...arrayFunctions,
    ...jsonFunctions,
  ].flatMap((row) => [
    [row.name, row] as const,
    ...(row.isCaseless ? [[row.name.toLowerCase(), row] as const] : []),
  ]),
);

export function functionNamed(name: string): FunctionRow | undefined {
  const found = functions.get(name);
  if (found) return found;
  const caseless = functions.get(name.toLowerCase());
  return caseless?.isCaseless ? caseless : undefined;
}
