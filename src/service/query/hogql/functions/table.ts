import { arrayFunctions } from "./arrays.ts";
import { conversionFunctions } from "./conversions.ts";
import { dateFunctions } from "./dates.ts";
import { jsonFunctions } from "./json.ts";
import { caselessNames } from "./names.ts";
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
  ].map((row) => [row.name, row] as const),
);

const caseless: ReadonlyMap<string, FunctionRow | undefined> = new Map(
  caselessNames.map((name) => [name.toLowerCase(), functions.get(name)]),
);

export const functionNamed = (name: string): FunctionRow | undefined =>
  functions.get(name) ?? caseless.get(name.toLowerCase());
