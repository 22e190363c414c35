import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { spelledOut } from "../../kernel/base/text.ts";
import { projectParts, type ScenarioPart, scenarioParts } from "./parts.ts";
import type { AuthoredProject } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";
import type { ScenarioChange } from "./state/info-shapes.ts";

/** A thing and its value: equal values are no change. */
type Named = readonly [name: string | null, value: unknown];

type Thing = Readonly<Record<string, unknown>>;

function partName(thing: Thing, key: string): unknown {
  if (key.includes("+"))
    return key
      .split("+")
      .map((it) => thing[it])
      .join("/");
  const value = thing[key];
  return Array.isArray(value) ? value[0] : value;
}

/** The things of a part, by the keys of an object, or by their names or positions in a list. */
function thingsIn({ names, shownBy }: ScenarioPart, value: object | undefined): Named[] {
  if (!Array.isArray(value)) return Object.entries(value ?? {}).map(([key, it]) => [spelledOut(key), it]);
  const keys = shownBy === undefined ? [...names].reverse() : [shownBy];
  return value.map((thing: Thing, i) => [
    spelledOut(String(keys.map((key) => partName(thing, key)).find((name) => name != null) ?? i + 1)),
    thing,
  ]);
}

const without = (value: object, keys: object): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !Object.hasOwn(keys, key)));

const projectsOf = ({ organizations }: Scenario): AuthoredProject[] =>
  organizations.flatMap(({ projects }) => projects);

/** Everything outside of projects, and what projects have apart from their lists. */
const outside: readonly (readonly [part: ScenarioPart, of: (scenario: Scenario) => object | undefined])[] = [
  [scenarioParts.users, ({ users }) => users],
  [scenarioParts.organizations, ({ organizations }) => organizations.map((it) => without(it, { projects: true }))],
  [scenarioParts.projects, (it) => projectsOf(it).map((one) => without(one, projectParts))],
  [scenarioParts.personal_api_keys, ({ personal_api_keys: keys }) => keys],
  [scenarioParts.geoip, ({ geoip }) => geoip],
];

const single = ["clock", "dialect", "faults"] as const;

/** Things with the same name are distinguished by their order. */
function numbered(things: readonly Named[]): Map<string, Named> {
  const found = new Map<string, Named>();
  const counts = new Map<string | null, number>();
  for (const thing of things) {
    const count = (counts.get(thing[0]) ?? 0) + 1;
    counts.set(thing[0], count);
    found.set(JSON.stringify([thing[0], count]), thing);
  }
  return found;
}

function compared(
  kind: string,
  project: string | null,
  old: readonly Named[],
  now: readonly Named[],
): ScenarioChange[] {
  const before = numbered(old);
  const after = numbered(now);
  const changes: ScenarioChange[] = [];
  for (const [key, [name, value]] of after) {
    const was = before.get(key);
    if (!was) changes.push({ change: "added", kind, name, project });
    else if (JSON.stringify(was[1]) !== JSON.stringify(value)) changes.push({ change: "changed", kind, name, project });
  }
  for (const [key, [name]] of before) if (!after.has(key)) changes.push({ change: "removed", kind, name, project });
  return changes;
}

/** The differences between two scenarios, thing by thing. */
export function scenarioChanges(before: Scenario, after: Scenario): ScenarioChange[] {
  const old = new Map(projectsOf(before).map((it) => [it.name, it]));
  const now = new Map(projectsOf(after).map((it) => [it.name, it]));
  const names = [...new Set([...now.keys(), ...old.keys()])];
  const parts = Object.keys(projectParts) as (keyof typeof projectParts)[];
  const inProjects = names.flatMap((name) =>
    parts.flatMap((key) => {
      const [was = [], is = []] = [old, now].map((all) => thingsIn(projectParts[key], all.get(name)?.[key]));
      return compared(projectParts[key].kind, names.length > 1 ? name : null, was, is);
    }),
  );
  return [
    ...inProjects,
    ...outside.flatMap(([part, of]) =>
      compared(part.kind, null, thingsIn(part, of(before)), thingsIn(part, of(after))),
    ),
    ...single.flatMap((key) => {
      const [was = [], is = []] = [before[key], after[key]].map((it): Named[] =>
        it === undefined ? [] : [[null, it]],
      );
      return compared(key, null, was, is);
    }),
  ];
}

/** More names of a kind are counted. */
const maxNames = 5;

/** `2 flags changed (a, b), person added (user-1)`: one line. */
export function changesInWords(changes: readonly ScenarioChange[]): string {
  const groups = groupedBy(changes, (it) => `${it.kind} ${it.change}`);
  return [...groups.values()].map(groupInWords).join(", ");
}

function groupInWords(group: readonly ScenarioChange[]): string {
  const [{ kind, change } = { kind: "", change: "changed" }] = group;
  const names = group.flatMap(({ name, project }) =>
    name === null ? [] : [project === null ? name : `${name} of ${project}`],
  );
  const what = group.length === 1 ? kind : `${group.length} ${kind}s`;
  const more = names.length - maxNames;
  const shown = [...names.slice(0, maxNames), ...(more > 0 ? [`and ${more} more`] : [])];
  const list = shown.length === 0 ? "" : ` (${shown.map((it) => it.slice(0, 80)).join(", ")})`;
  return `${what} ${change}${list}`;
}
