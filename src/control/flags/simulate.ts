import { setImmediate as turn } from "node:timers/promises";
import { subjectOf } from "../../flags/ask.ts";
import { overridesFor } from "../../flags/overrides.ts";
import type { Ruleset } from "../../flags/ruleset.ts";
import { simulate } from "../../flags/simulate.ts";
import type { Subject } from "../../flags/subject.ts";
import { SimError } from "../../kernel/errors.ts";
import type { FeatureFlag, Project } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";
import type { FlagDistribution } from "./answers.ts";
import { aboutOf, rulesetWithout } from "./explain.ts";
import type { Given } from "./given.ts";
import { showOverride } from "./overrides.ts";
import { flagOf, noSuchFlag } from "./place.ts";
import { variantsOf } from "./rules.ts";

/** Names that a simulation may be asked for with. */
export const simulateNames = ["count", "project", "person", "groups", "group_properties"];

const usualCount = 1000;
const mostSubjects = 100_000;

/** Subjects looked at before other work gets a turn. */
const slice = 1000;

type Tally = Pick<FlagDistribution, "count" | "failed" | "values">;

/**
 * The nth generated subject: `user-n` with a device of its own, and with a group of its own of each type that
 * none is given of. What is stored of somebody by that name does not count.
 */
function generator(desk: ControlDesk, project: Project, given: Given): (n: number) => Subject {
  const about = aboutOf(given);
  const types = desk.people.groupTypes(project.id).filter((type) => !Object.hasOwn(about.groups, type));
  return (n) =>
    subjectOf(desk, project, {
      ...about,
      distinctId: `user-${n}`,
      deviceId: `device-${n}`,
      groups: { ...about.groups, ...Object.fromEntries(types.map((type) => [type, `${type}-${n}`])) },
      isStoredIgnored: true,
    });
}

/** Variants in their order, then true, false and holdouts. */
function inOrder(
  flag: FeatureFlag,
  counts: ReadonlyMap<boolean | string, number>,
  all: number,
): Tally["values"] {
  const order: (boolean | string)[] = [...variantsOf(flag), true, false];
  const rank = (value: boolean | string) => (order.includes(value) ? order.indexOf(value) : order.length);
  return [...counts]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([value, count]) => ({ value, count, share: count / all }));
}

/** Counts in slices; undefined where the rules have no such flag. */
async function counted(
  ruleset: Ruleset,
  flag: FeatureFlag,
  count: number,
  nth: (n: number) => Subject,
): Promise<Tally | undefined> {
  const counts = new Map<boolean | string, number>();
  let failed = 0;
  for (let from = 0; from < count; from += slice) {
    const part = simulate(ruleset, flag.key, Math.min(slice, count - from), (_, i) => nth(from + i));
    if (!part) return undefined;
    failed += part.failed;
    for (const it of part.values) counts.set(it.value, (counts.get(it.value) ?? 0) + it.count);
    await turn();
  }
  return { count, failed, values: inOrder(flag, counts, count) };
}

/**
 * What the rules give to generated subjects who have the given properties in common.
 * @throws SimError not_found, invalid_input
 */
export async function distribution(
  desk: ControlDesk,
  project: Project,
  key: string,
  given: Given,
): Promise<FlagDistribution> {
  const count = given.number("count", { min: 1, max: mostSubjects }) ?? usualCount;
  const flag = flagOf(desk, project, key);
  if (!flag) throw noSuchFlag(desk, project, key);
  const overrides = overridesFor(desk.worlds, project.id, undefined);
  const ruleset = rulesetWithout(desk, project, overrides, key);
  const found = await counted(ruleset, flag, count, generator(desk, project, given));
  if (!found) {
    throw new SimError("not_found", `flag "${key}" of project ${project.id} is inactive: nobody gets it`);
  }
  const override = overrides.get(key);
  return { project: project.id, key, ...found, override: override ? showOverride(override) : null };
}
