import type { Scenario } from "./schema.ts";
import type { AuthoredProject } from "./schemas/project.ts";

/** What an edit did to one thing of a scenario. */
export interface ScenarioChange {
  readonly change: "added" | "changed" | "removed";
  /** What it is: `flag`, `person`, `clock` … */
  readonly kind: string;
  /** What the scenario calls it; null for what there is once. */
  readonly name: string | null;
  /** The project's name, where the scenario has several. */
  readonly project: string | null;
}

/** A thing and its value: equal values are no change. */
type Named = readonly [name: string | null, value: unknown];

const byName =
  <K extends string>(...keys: readonly K[]) =>
  (list: readonly { readonly [P in K]?: unknown }[] | undefined): Named[] =>
    (list ?? []).map((it, i) => [
      String(keys.map((key) => it[key]).find((name) => name != null) ?? i + 1),
      it,
    ]);

const once = (value: unknown): Named[] => (value === undefined ? [] : [[null, value]]);

/** The lists of a project; what is not among them counts as the project's own settings. */
const projectParts = {
  flags: ["flag", ({ flags }) => Object.entries(flags ?? {})],
  cohorts: ["cohort", ({ cohorts }) => byName("name")(cohorts)],
  persons: [
    "person",
    ({ persons }) => (persons ?? []).map((it) => [it.distinct_ids[0] ?? it.uuid ?? "", it]),
  ],
  groups: ["group", ({ groups }) => (groups ?? []).map((it) => [`${it.type}/${it.key}`, it])],
  dashboards: ["dashboard", ({ dashboards }) => byName("name", "id")(dashboards)],
  dashboard_templates: [
    "dashboard template",
    ({ dashboard_templates: list }) => byName("template_name")(list),
  ],
  insights: ["insight", ({ insights }) => byName("name")(insights)],
  batch_exports: ["batch export", ({ batch_exports: list }) => byName("name")(list)],
  surveys: ["survey", ({ surveys }) => byName("name", "id")(surveys)],
  early_access_features: [
    "early access feature",
    ({ early_access_features: list }) => byName("name", "id")(list),
  ],
  product_tours: ["product tour", ({ product_tours: list }) => byName("name", "id")(list)],
  web_experiments: ["web experiment", ({ web_experiments: list }) => byName("name", "id")(list)],
  prompts: ["prompt", ({ prompts }) => byName("name")(prompts)],
} as const satisfies {
  readonly [K in keyof AuthoredProject]?: readonly [kind: string, of: (project: AuthoredProject) => Named[]];
};

const without = (value: object, keys: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

const projectsOf = ({ organizations }: Scenario): AuthoredProject[] =>
  organizations.flatMap(({ projects }) => projects);

/** Everything outside of projects. Keys are secret: they are called by their labels. */
const scenarioParts: readonly (readonly [kind: string, of: (scenario: Scenario) => Named[]])[] = [
  ["user", ({ users }) => byName("email")(users)],
  [
    "organization",
    ({ organizations }) => organizations.map((it): Named => [it.name, without(it, ["projects"])]),
  ],
  [
    "project",
    (it) => projectsOf(it).map((one): Named => [one.name, without(one, Object.keys(projectParts))]),
  ],
  ["personal API key", ({ personal_api_keys: keys }) => byName("label")(keys)],
  ["geoip row", ({ geoip }) => byName("address")(geoip)],
  ["clock", ({ clock }) => once(clock)],
  ["dialect", ({ dialect }) => once(dialect)],
  ["faults", ({ faults }) => once(faults)],
];

/** Things of the same name are told apart by their order. */
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
    else if (JSON.stringify(was[1]) !== JSON.stringify(value))
      changes.push({ change: "changed", kind, name, project });
  }
  for (const [key, [name]] of before)
    if (!after.has(key)) changes.push({ change: "removed", kind, name, project });
  return changes;
}

const nothing: Partial<AuthoredProject> = {};

/** What is different between two scenarios, thing by thing. */
export function scenarioChanges(before: Scenario, after: Scenario): ScenarioChange[] {
  const old = new Map(projectsOf(before).map((it) => [it.name, it]));
  const now = new Map(projectsOf(after).map((it) => [it.name, it]));
  const names = new Set([...now.keys(), ...old.keys()]);
  const inProjects = [...names].flatMap((name) =>
    Object.values(projectParts).flatMap(([kind, of]) => {
      const [was, is] = [old.get(name), now.get(name)].map((it) =>
        of({ ...nothing, ...it } as AuthoredProject),
      );
      return compared(kind, names.size > 1 ? name : null, was ?? [], is ?? []);
    }),
  );
  return [
    ...inProjects,
    ...scenarioParts.flatMap(([kind, of]) => compared(kind, null, of(before), of(after))),
  ];
}

/** More names than these of a kind are counted. */
const mostNames = 5;

const plural = (kind: string, count: number): string => (count === 1 ? kind : `${kind}s`);

/** `2 flags changed (a, b), person added (user-1)`: one line. */
export function changesInWords(changes: readonly ScenarioChange[]): string {
  const groups = new Map<string, ScenarioChange[]>();
  for (const it of changes) {
    const key = `${it.kind} ${it.change}`;
    const group = groups.get(key);
    if (group) group.push(it);
    else groups.set(key, [it]);
  }
  return [...groups.values()].map(groupInWords).join(", ");
}

function groupInWords(group: readonly ScenarioChange[]): string {
  const [{ kind, change } = { kind: "", change: "changed" }] = group;
  const names = group.flatMap(({ name, project }) =>
    name === null ? [] : [project === null ? name : `${name} of ${project}`],
  );
  const count = group.length === 1 ? "" : `${group.length} `;
  const more = names.length - mostNames;
  const shown = [...names.slice(0, mostNames), ...(more > 0 ? [`and ${more} more`] : [])];
  const list = shown.length === 0 ? "" : ` (${shown.map((it) => it.slice(0, 80)).join(", ")})`;
  return `${count}${plural(kind, group.length)} ${change}${list}`;
}
