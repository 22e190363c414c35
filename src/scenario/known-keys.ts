import { z } from "zod";
import type { Path } from "../kernel/json-pointer.ts";
import { AuthoredScenarioSchema, ScenarioSchema } from "./schema.ts";
import { AuthoredOrganization } from "./schemas/account.ts";
import { AuthoredProject } from "./schemas/project.ts";
import { meantOf } from "./sentences.ts";

type Schema = z.core.$ZodType;

/** The schemas that a value of this one may obey: forms of unions, what is wrapped. */
function forms(schema: Schema): Schema[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return forms(schema.unwrap());
  return schema instanceof z.ZodUnion ? schema.options.flatMap(forms) : [schema];
}

function inside(schema: Schema, step: string | number): Schema[] {
  if (schema instanceof z.ZodArray) return forms(schema.element);
  if (schema instanceof z.ZodRecord) return forms(schema.valueType);
  const isKnown = schema instanceof z.ZodObject && Object.hasOwn(schema.shape, step);
  return isKnown ? forms(schema.shape[step]) : [];
}

/** The keys that an object at the place may have. */
function keysAt(at: Path): string[] {
  const start: Schema[] = forms(AuthoredScenarioSchema);
  const here = at.reduce((schemas, step) => schemas.flatMap((it) => inside(it, step)), start);
  return here.flatMap((it) => (it instanceof z.ZodObject ? Object.keys(it.shape) : []));
}

/** Where keys belong that are found in the wrong place. */
const homes: readonly (readonly [string, z.ZodObject])[] = [
  ["a project", AuthoredProject],
  ["an organization", AuthoredOrganization],
  ["the scenario itself", ScenarioSchema],
];

/** Is it a key of some form of what stands at the place? */
export const isKeyAt = (key: string, at: Path): boolean => keysAt(at).includes(key);

/** What was meant by a key that is not known at the place of its object. */
export function hintForKey(key: string, at: Path): string | undefined {
  const known = keysAt(at);
  if (known.includes(key)) return undefined;
  const meant = meantOf(key, known);
  if (meant !== undefined) return meant;
  const home = homes.find(([, { shape }]) => Object.hasOwn(shape, key));
  if (home) return `it belongs in ${home[0]}`;
  return known.length > 0 && known.length <= 8 ? `known keys are ${known.join(", ")}` : undefined;
}
