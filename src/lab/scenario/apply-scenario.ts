import type { SwitchPart } from "../../kernel/store/switch.ts";
import { emptyWorld, type World } from "../../state/documents/world.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { maxGroupTypes } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import type { FaultRules } from "../faults/rules.ts";
import type { ScenarioState } from "./applied.ts";
import { changesInWords, scenarioChanges } from "./changes.ts";
import { keptInWords, type OnChange, type Reloaded, reloadedWorld } from "./reload.ts";
import { type Built, builtOf, projectNumbers, type Scenario } from "./scenario.ts";
import type { ScenarioChange } from "./state/info-shapes.ts";

export interface ApplyParts {
  readonly scenario: ScenarioState;
  readonly worlds: WorldStore;
  readonly people: PersonStore;
  readonly log: Pick<TrafficLog, "scan" | "commit">;
  switchTo(parts: readonly SwitchPart[]): void;
  notice(text: string): void;
}

/** The number of changes that `info` lists. */
const maxChanges = 100;

const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

const trafficIn = ({ organizations }: Scenario) =>
  organizations.map(({ projects }) => projects.map(({ traffic }) => traffic));

/** The scenario that was last applied, and its world; undefined where it is not known or is not valid any more. */
function lastApplied({
  scenario: { applied },
}: ApplyParts): { scenario: Scenario; built: Built; base: World } | undefined {
  const last = applied.read();
  if (!last) return undefined;
  try {
    const built = builtOf(last.scenario);
    return { scenario: last.scenario, built, base: last.world ?? built.world };
  } catch {
    return undefined;
  }
}

/**
 * Applies a scenario to the documents, whole or not at all, and reports what changed in one line. With `merge`, what
 * users changed stays. @returns the projects that are new
 * @throws Error if two documents would have the same id or key; the system's error
 */
export function applyScenario(
  parts: ApplyParts,
  next: Scenario,
  mode: Exclude<OnChange, "ignore">,
  opening: string,
): number[] {
  const { scenario, worlds, people, log, switchTo, notice } = parts;
  const last = lastApplied(parts);
  const after = builtOf(next);
  const { world, base, kept } =
    mode === "reset" ? replacedWorld(after.world) : mergedWorld(parts, last?.base ?? emptyWorld(), after.world);
  const known = new Set(worlds.current.projects.map(({ id }) => id));
  switchTo([worlds.replacing(world), scenario.applied.replacing(next, differ(base, after.world) ? base : null)]);
  addPersons(people, after, base, last?.built);
  log.commit();
  const changes = last ? scenarioChanges(last.scenario, next) : [];
  const summary = summaryOf(changes, last !== undefined);
  scenario.current = next;
  scenario.edit = { at: Date.now(), summary, changes: changes.slice(0, maxChanges), count: changes.length };
  const stays = kept.length > 0 ? `; as you have it, not as the scenario: ${keptInWords(kept)}` : "";
  notice(`${opening}: ${summary}${stays}`);
  const left = last ? leftForReset(changes, last.scenario, next) : [];
  if (left.length > 0) notice(`${left.join(", ")} of the scenario count from the next reset on`);
  return world.projects.flatMap(({ id, ephemeral }) => (known.has(id) || ephemeral ? [] : [id]));
}

const summaryOf = (changes: readonly ScenarioChange[], isKnown: boolean): string =>
  isKnown
    ? changesInWords(changes) || "no effective changes"
    : "what the data folder lacked is added; which scenario it had before is not known";

const replacedWorld = (world: World): Reloaded => ({ world, base: world, kept: [] });

const mergedWorld = ({ worlds, log }: ApplyParts, base: World, built: World): Reloaded =>
  reloadedWorld({
    base,
    built,
    now: worlds.current,
    hasEvents(project) {
      const [event] = log.scan({ project });
      return event !== undefined;
    },
  });

/** What an edit does not change before a reset. */
function leftForReset(changes: readonly ScenarioChange[], before: Scenario, next: Scenario): string[] {
  const isLeft = ({ change, kind }: ScenarioChange) => change !== "added" && (kind === "person" || kind === "group");
  return [
    ...(changes.some(isLeft) ? ["changed and removed persons and groups"] : []),
    ...(differ(before.clock, next.clock) ? ["the clock"] : []),
    ...(differ(trafficIn(before), trafficIn(next)) ? ["traffic"] : []),
  ];
}

/** Stores the persons and groups that the scenario has now, and did not have, where none has their ids. */
function addPersons(people: PersonStore, after: Built, base: World, before: Built | undefined): void {
  const numberOf = projectNumbers(after, base);
  const was = before && namesOfPersons(before);
  const now = namesOfPersons(after);
  for (const { person, distinctIds } of after.people.persons) {
    const project = numberOf(person.project);
    const isTaken = distinctIds.some((id) => people.personOf(project, id)) || people.person(project, person.uuid);
    if (!isTaken && !was?.has(now.person(person.project, distinctIds)))
      people.create({ ...person, project }, distinctIds);
  }
  for (const { project: number, name } of after.people.groupTypes) typeOf(people, numberOf(number), name);
  for (const group of after.people.groups) {
    const project = numberOf(group.project);
    const names = after.people.groupTypes.filter((it) => it.project === group.project);
    const type = typeOf(people, project, names[group.type]?.name ?? "");
    if (type === undefined || people.group(project, type, group.key)) continue;
    if (!was?.has(now.group(group.project, group.type, group.key))) people.saveGroup({ ...group, project, type });
  }
}

function typeOf(people: PersonStore, project: number, name: string): number | undefined {
  const types = people.groupTypes(project);
  const at = types.indexOf(name);
  if (at !== -1) return at;
  if (types.length >= maxGroupTypes) return undefined;
  people.addGroupType(project, name);
  return types.length;
}

/** Names of persons and groups that hold in two versions of a scenario. */
function namesOfPersons({ world, people }: Built) {
  const keys = new Map(world.projects.map(({ id, api_key }) => [id, api_key]));
  const person = (project: number, ids: readonly string[]) => JSON.stringify([keys.get(project), "person", ...ids]);
  const group = (project: number, type: number, key: string) => {
    const types = people.groupTypes.filter((it) => it.project === project);
    return JSON.stringify([keys.get(project), "group", types[type]?.name, key]);
  };
  const all = new Set([
    ...people.persons.map((it) => person(it.person.project, it.distinctIds)),
    ...people.groups.map((it) => group(it.project, it.type, it.key)),
  ]);
  return { person, group, has: (name: string) => all.has(name) };
}

export function applyEdit(
  parts: ApplyParts & { readonly faults: FaultRules },
  next: Scenario,
  mode: Exclude<OnChange, "ignore">,
): number[] {
  const { current } = parts.scenario;
  const added = applyScenario(parts, next, mode, "the scenario was edited and is in force");
  if (differ(current.faults, next.faults)) parts.faults.replace(next.faults ?? []);
  if (differ(current.dialect, next.dialect)) parts.notice("the dialect of the scenario counts from the next start on");
  return added;
}
