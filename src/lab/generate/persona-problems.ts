import type { Path } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { listed } from "../../kernel/base/text.ts";
import { maxGroupTypes } from "../../state/persons/person.ts";
import { eventNamesOf } from "./generate.ts";
import type { Persona, PersonaStep, PersonaValue } from "./shapes.ts";

interface PersonaProblem {
  readonly at: Path;
  readonly text: string;
  readonly hint?: string;
}

const isNumeric = (value: PersonaValue | undefined): boolean => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return typeof value === "number";
  if ("from" in value) return true;
  return "one_of" in value && Array.isArray(value.one_of) && value.one_of.every((it) => typeof it === "number");
};

/** Unknown names of events and properties, and parts without effect. */
export function personaProblems(persona: Persona): PersonaProblem[] {
  const { steps, returns, flags = {}, funnel, retention, groups = {} } = persona;
  const names = eventNamesOf(persona);
  const problems: PersonaProblem[] = [];
  const complain = (at: Path, text: string, hint?: string) =>
    problems.push({ at, text, ...(hint !== undefined && { hint }) });

  function checkName(name: string | undefined, at: Path): void {
    if (name === undefined || names.includes(name)) return;
    complain(
      at,
      `no step has the event ${JSON.stringify(name)}`,
      meantOf(name, names) ?? `events are ${listed(names)}`,
    );
  }

  checkName(returns?.only_after, ["returns", "only_after"]);
  for (const [key, { at }] of Object.entries(flags)) checkName(at, ["flags", key, "at"]);
  for (const [i, name] of (funnel?.steps ?? []).entries()) checkName(name, ["funnel", "steps", i]);
  checkName(retention?.event, ["retention", "event"]);
  checkRevenue(persona, names, complain);

  const types = Object.keys(groups);
  if (types.length > maxGroupTypes)
    complain(["groups"], `expected at most ${maxGroupTypes} types of groups, got ${types.length}`);
  const all: [PersonaStep, Path][] = [
    ...steps.map((it, i): [PersonaStep, Path] => [it, ["steps", i]]),
    ...(returns?.steps ?? []).map((it, i): [PersonaStep, Path] => [it, ["returns", "steps", i]]),
  ];
  if (all.some(([it]) => it.identify)) return problems;
  const advice = "add `identify: true` to a step";
  if (persona.person) complain(["person"], "has no effect: no step identifies the user", advice);
  for (const [step, at] of all)
    if (step.set && persona.person_profiles !== "always")
      complain([...at, "set"], "has no effect: no step identifies the user", `${advice}, or person_profiles: always`);
  return problems;
}

function checkRevenue(
  { steps, returns, revenue }: Persona,
  names: readonly string[],
  complain: (at: Path, text: string, hint?: string) => void,
): void {
  if (!revenue) return;
  const { event, property } = revenue;
  if (!names.includes(event)) {
    complain(["revenue", "event"], `no step has the event ${JSON.stringify(event)}`, meantOf(event, names));
    return;
  }
  const properties = [...steps, ...(returns?.steps ?? [])]
    .filter((it) => it.event === event)
    .map((it) => it.properties ?? {});
  if (properties.some((it) => isNumeric(it[property]))) return;
  const known = properties.flatMap((it) => Object.keys(it).filter((key) => isNumeric(it[key])));
  const shown = `the event ${JSON.stringify(event)} has no property ${JSON.stringify(property)} with a number`;
  complain(["revenue", "property"], shown, meantOf(property, known));
}
