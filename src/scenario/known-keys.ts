import { z } from "zod";
import type { Path } from "../base/json-pointer.ts";
import { meantOf } from "../base/nearest.ts";
import { AuthoredScenarioSchema, OrganizationWithProjects, ScenarioSchema } from "./schema.ts";
import { AuthoredProject } from "./schemas/project.ts";

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
  ["an organization", OrganizationWithProjects],
  ["the scenario itself", ScenarioSchema],
];

/** Keys of the service's JSON in the short form of a flag, and of other tools. */
const elsewhere: Readonly<Record<string, string>> = {
  rollout_percentage: 'write "rollout" in the short form',
  percentage: 'did you mean "rollout"?',
  multivariate: 'write "variants" in the short form, or all of it in "filters"',
  groups: 'put it in "filters", as the service exports it',
  properties: 'write "person" in the short form, or "filters" as the service exports it',
  enabled: "write true or false in place of the object",
  key: "the flag's key stands before the colon",
  value: 'use "variants" for values, or true and false in place of the object',
};

/** True for a key of some form of what is at the place. */
export const isKeyAt = (key: string, at: Path): boolean => keysAt(at).includes(key);

/** What was meant by a key that is not known at the place of its object. */
export function hintForKey(key: string, at: Path): string | undefined {
  const known = keysAt(at);
  if (known.includes(key)) return undefined;
  const other = known.includes("rollout") && Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined;
  const meant = other ?? meantOf(key, known);
  if (meant !== undefined) return meant;
  const home = homes.find(([, { shape }]) => Object.hasOwn(shape, key));
  if (home) return `it belongs in ${home[0]}`;
  return known.length > 0 && known.length <= 8 ? `known keys are ${known.join(", ")}` : undefined;
}
