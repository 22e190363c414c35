import { z } from "zod";
import { isObject, type Json, type JsonObject, type Path, pointerTo, valueAt } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { safeParse } from "../../kernel/base/safe-parse.ts";
import { hintFor, phraseOf, sentence, usualHint } from "../../kernel/http/schema-messages.ts";
import { problemsOfRules } from "../../service/flags/engine/rule-config.ts";
import { rulesVersionOf } from "../../state/documents/flag-config.ts";
import { personaProblems } from "../generate/persona-problems.ts";
import { schemaFrom } from "../plan/plan-schema.ts";
import { warningsOf } from "./flag-warnings.ts";
import { nameWarnings } from "./name-warnings.ts";
import type { PlacedProblem, RawProblem } from "./problems.ts";
import { AuthoredProject } from "./project-schema.ts";
import { buildWorld } from "./scenario.ts";
import { AuthoredScenarioSchema, OrganizationWithProjects, type Scenario, ScenarioSchema } from "./schema.ts";
import { onlyProjectPointer, type Whole } from "./short-form.ts";
import { placeAt, plainValue, type Tree } from "./tree.ts";

type Issue = z.core.$ZodIssue;

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

interface Checked {
  readonly scenario?: Scenario;
  readonly problems: readonly PlacedProblem[];
  /** Parts that are allowed and cannot work; empty if there are problems with the schema. */
  readonly warnings: readonly PlacedProblem[];
}

/** Checks a tree against the schema; once that is met, its references. */
export function checkScenario({ tree, isShort }: Whole): Checked {
  const value = plainValue(tree);
  const inFile = (problems: readonly RawProblem[]) => problems.map((it) => placed(tree, isShort, it));
  const result = safeParse(ScenarioSchema, value, { error: phraseOf });
  if (result.success) {
    const scenario = withPlannedDefinitions(result.data);
    const built = buildWorld(scenario);
    return {
      scenario,
      problems: inFile([...built.problems, ...ruleProblems(scenario), ...trafficProblems(scenario)]),
      warnings: inFile([...warningsOf(scenario, built), ...nameWarnings(scenario)]),
    };
  }
  return { problems: inFile(result.error.issues.flatMap((issue) => problemsOf(issue, value))), warnings: [] };
}

const ruleProblems = ({ organizations }: Scenario): RawProblem[] =>
  organizations.flatMap(({ projects }, i) =>
    projects.flatMap(({ flags = {} }, j) =>
      Object.entries(flags).flatMap(([key, flag]) => {
        const filters = typeof flag === "object" ? flag.filters : undefined;
        if (!filters || rulesVersionOf(filters) !== 2) return [];
        const inFilters = ["organizations", i, "projects", j, "flags", key, "filters"];
        // The document is JSON: zod's loose objects only forget it.
        return problemsOfRules(filters as JsonObject).map(({ at, code, detail }): RawProblem => {
          const text = `${detail.charAt(0).toLowerCase()}${detail.slice(1).replace(/\.$/, "")}`;
          const isAboutKey = code === "unknown_field" && { isAboutKey: true as const };
          return { at: [...inFilters, ...at], text, ...isAboutKey };
        });
      }),
    ),
  );

const trafficProblems = ({ organizations }: Scenario): RawProblem[] =>
  organizations.flatMap(({ projects }, i) =>
    projects.flatMap(({ traffic = [] }, j) =>
      traffic.flatMap(({ persona }, k) => {
        if (typeof persona !== "object") return [];
        const at = ["organizations", i, "projects", j, "traffic", k, "persona"];
        return personaProblems(persona).map((it) => ({ ...it, at: [...at, ...it.at] }));
      }),
    ),
  );

/** With pointers into the scenario as the author wrote it. */
const placed = (tree: Tree, isShort: boolean, { at, text, ...problem }: RawProblem): PlacedProblem => ({
  ...problem,
  text: isShort ? text.replaceAll(`${onlyProjectPointer}/`, "/") : text,
  pointer: isShort && at.length > 4 ? pointerTo(at).replace(onlyProjectPointer, "") : pointerTo(at),
  place: placeAt(tree, at, problem.isAboutKey),
});

/** The problems of an issue; its path starts at `value`, whose place is `from`. */
function problemsOf(issue: Issue, value: Json, from: Path = []): RawProblem[] {
  const path = issue.path.map(stepOf);
  const at = [...from, ...path];
  const here = valueAt(value, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, at));
    case "invalid_key":
      return [badKey(issue, at)];
    case "invalid_union": {
      const meant = meantForm(issue.errors, here);
      if (meant && here !== undefined) return meant.flatMap((it) => problemsOf(it, here, at));
    }
  }
  const hint = usualHint(here, at) ?? hintFor(issue, here);
  return [{ at, text: sentence(issue.message, here, at), ...(hint !== undefined && { hint }) }];
}

function unknownKey(key: string, at: Path): RawProblem {
  const shown = JSON.stringify(key);
  const known = keysAt(at);
  // a known key is one of another form of the same thing
  const isKnown = known.includes(key);
  const text = isKnown ? `${shown} cannot be combined with the other keys` : `unknown key ${shown}`;
  const hint = isKnown ? undefined : hintForKey(key, known);
  return { at: [...at, key], isAboutKey: true, text, ...(hint !== undefined && { hint }) };
}

function badKey(issue: Extract<Issue, { code: "invalid_key" }>, at: Path): RawProblem {
  const phrase = `${issue.issues[0]?.message ?? "another text"} as key`;
  return { at, isAboutKey: true, text: sentence(phrase, String(at.at(-1)), []) };
}

/** The form of a union that the author meant: the only one of its type, or no key of it is missing, and its mistakes are deepest. */
function meantForm(all: readonly Issue[][], value: Json | undefined): Issue[] | undefined {
  const ofType = all.filter((issues) => !issues.some((issue) => isOtherType(issue, value)));
  const forms =
    ofType.length === 1 ? ofType : ofType.filter((issues) => !issues.some((issue) => isOtherForm(issue, value)));
  return forms.sort((a, b) => depthOf(b) - depthOf(a))[0];
}

/** True if the value has another type than this form. */
const isOtherType = ({ code, path }: Issue, value: Json | undefined): boolean =>
  path.length === 0 &&
  (code === "invalid_type" || (code === "invalid_value" && typeof value === "object" && value !== null));

/** True if the value lacks a required key of this form. */
const isOtherForm = (issue: Issue, value: Json | undefined): boolean =>
  issue.code === "invalid_type" && valueAt(value, issue.path.map(stepOf)) === undefined;

const depthOf = (issues: readonly Issue[]): number => Math.max(...issues.map((issue) => issue.path.length));

type Schema = z.core.$ZodType;

/** The schemas of which a value of this one must match one: the forms of a union, the inner schema of a wrapper. */
function forms(schema: Schema): Schema[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return forms(schema.unwrap());
  return schema instanceof z.ZodUnion ? schema.options.flatMap(forms) : [schema];
}

function schemasInside(schema: Schema, step: string | number): Schema[] {
  if (schema instanceof z.ZodArray) return forms(schema.element);
  if (schema instanceof z.ZodRecord) return forms(schema.valueType);
  const isKnown = schema instanceof z.ZodObject && Object.hasOwn(schema.shape, step);
  return isKnown ? forms(schema.shape[step]) : [];
}

function keysAt(at: Path): string[] {
  const start: Schema[] = forms(AuthoredScenarioSchema);
  const here = at.reduce((schemas, step) => schemas.flatMap((it) => schemasInside(it, step)), start);
  return here.flatMap((it) => (it instanceof z.ZodObject ? Object.keys(it.shape) : []));
}

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
  enabled: "write true or false instead of the object",
  key: "the flag's key is before the colon",
  value: 'use "variants" for values, or true and false instead of the object',
};

function hintForKey(key: string, known: readonly string[]): string | undefined {
  const other = known.includes("rollout") && Object.hasOwn(elsewhere, key) ? elsewhere[key] : undefined;
  const meant = other ?? meantOf(key, known);
  if (meant !== undefined) return meant;
  const home = homes.find(([, { shape }]) => Object.hasOwn(shape, key));
  if (home) return `it belongs in ${home[0]}`;
  return known.length > 0 && known.length <= 8 ? `known keys are ${known.join(", ")}` : undefined;
}

/** The types of properties in the service, by types and formats of JSON Schema. */
const propertyTypes: Readonly<Record<string, string>> = {
  "date-time": "DateTime",
  date: "DateTime",
  string: "String",
  number: "Numeric",
  integer: "Numeric",
  boolean: "Boolean",
};

/** The service's type of a planned property; null if values of several types are planned, or none is named. */
function propertyTypeOf(schema: Json): string | null {
  if (!isObject(schema)) return null;
  const { format, type, enum: values } = schema;
  const named = Array.isArray(values) ? values.map((it) => typeof it) : [type].flat();
  const types = new Set(named.filter((it) => it !== "null").map((it) => propertyTypes[String(it)] ?? null));
  const [only = null] = types;
  if (types.size !== 1) return null;
  return (only === "String" && propertyTypes[String(format)]) || only;
}

/** Definitions of the events of a tracking plan, and of their properties. */
function definitionsOf(plan: NonNullable<Exclude<AuthoredProject["plan"], string>>) {
  const events = new Map<string, JsonObject>();
  const properties = new Map<string, JsonObject>();
  for (const [event, { description = null, properties: planned = {} }] of Object.entries(plan.events)) {
    events.set(event, { name: event, description });
    for (const [name, given] of Object.entries(planned)) {
      const schema = schemaFrom(given);
      const known = properties.get(name);
      const own = isObject(schema) && typeof schema.description === "string" ? schema.description : null;
      const type = propertyTypeOf(schema);
      properties.set(name, {
        name,
        description: known?.description ?? own,
        // one name may be planned differently for two events
        property_type: known && known.property_type !== type ? null : type,
      });
    }
  }
  return { events, properties };
}

function withOwn(project: AuthoredProject): AuthoredProject {
  const { plan, event_definitions = [], property_definitions = [], ...rest } = project;
  if (plan === undefined || typeof plan === "string") return project;
  const { events, properties } = definitionsOf(plan);
  for (const { name } of event_definitions) events.delete(String(name));
  for (const { name, type = "event" } of property_definitions) {
    if (type === "event") properties.delete(String(name));
  }
  return {
    ...rest,
    event_definitions: [...event_definitions, ...events.values()],
    property_definitions: [...property_definitions, ...properties.values()],
  };
}

/** The scenario with definitions in place of tracking plans; those that its author wrote stay as they are. */
const withPlannedDefinitions = (scenario: Scenario): Scenario => ({
  ...scenario,
  organizations: scenario.organizations.map((it) => ({ ...it, projects: it.projects.map(withOwn) })),
});
