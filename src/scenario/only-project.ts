import type { Json } from "../base/json.ts";
import { mergeProjects, mergeScenarios } from "./merge.ts";
import type { PlacedProblem } from "./problems.ts";
import { onlyProjectKeys } from "./schema.ts";
import { type Entry, type ObjectTree, positionOf, type Tree, treeOf } from "./tree.ts";

/**
 * Most scenarios have one project. Its flags, persons, cohorts and so on may stand at the top of the file, and what
 * such a file leaves out has a default. Everything after this chapter sees the whole form: organizations with projects.
 */

/** Those of `scenarios/default.json`, so that an app keeps its settings when its scenario changes. */
const defaults = {
  version: 1,
  organizations: [{ name: "Local" }],
  personal_api_keys: [{ key: "phx_sim_default", label: "Default key", scopes: ["*"] }],
} as const satisfies Json;

const defaultProject = { id: 1, name: "Default project", api_key: "phc_sim_default" } as const satisfies Json;

/** Where the only project of a scenario without `organizations` is in the whole form. */
export const onlyProjectPointer = "/organizations/0/projects/0";

const isPart = (key: string): boolean => onlyProjectKeys.has(key);

/** The keys of the project that stand at the top. */
const partsOf = ({ entries }: ObjectTree): [string, Entry][] => [...entries].filter(([key]) => isPart(key));

const withEntries = (tree: ObjectTree, entries: Iterable<readonly [string, Entry]>): ObjectTree => ({
  ...tree,
  entries: new Map(entries),
});

const withoutParts = (tree: ObjectTree): ObjectTree =>
  withEntries(
    tree,
    [...tree.entries].filter(([key]) => !isPart(key)),
  );

const itemsOf = (tree: Tree, key: string): readonly Tree[] => {
  const value = tree.kind === "object" ? tree.entries.get(key)?.tree : undefined;
  return value?.kind === "list" ? value.items : [];
};

const projectsIn = (tree: Tree): Tree[] =>
  itemsOf(tree, "organizations").flatMap((it) => itemsOf(it, "projects"));

/** The tree with its only project replaced; undefined when it has none, or several. */
function changed(tree: ObjectTree, change: (project: ObjectTree) => Tree): ObjectTree | undefined {
  const [project, another] = projectsIn(tree);
  if (project?.kind !== "object" || another) return undefined;
  // A list, an object or a value in between is copied with the project replaced.
  const replace = (it: Tree): Tree => {
    if (it === project) return change(project);
    if (it.kind === "list") return { ...it, items: it.items.map(replace) };
    if (it.kind !== "object") return it;
    const entries = [...it.entries].map(([key, entry]): [string, Entry] => {
      const leadsThere = key === "organizations" || key === "projects";
      return [key, leadsThere ? { ...entry, tree: replace(entry.tree) } : entry];
    });
    return withEntries(it, entries);
  };
  return replace(tree) as ObjectTree;
}

/** The tree with the keys at the top moved into its only project, over what the project has; as it is if that fails. */
function folded(tree: Tree): Tree {
  if (tree.kind !== "object") return tree;
  const parts = partsOf(tree);
  if (parts.length === 0) return tree;
  const rest = withoutParts(tree);
  return changed(rest, (project) => mergeProjects(project, withEntries(tree, parts))) ?? tree;
}

/**
 * Lays one scenario over another. Keys at the top are the only project's in either of them: what the upper one says
 * counts, wherever it says it.
 */
export function layOver(lower: Tree, upper: Tree): Tree {
  if (lower.kind !== "object" || upper.kind !== "object" || lower.entries.has("organizations")) {
    return folded(mergeScenarios(lower, upper));
  }
  const parts = withEntries(lower, partsOf(lower));
  const over = changed(upper, (project) => mergeProjects(parts, project));
  return mergeScenarios(over ? withoutParts(lower) : lower, over ?? upper);
}

/** One file, or one object of a program, before it is laid over others: what it says twice is a problem. */
export function settled(tree: Tree, complain: (problem: PlacedProblem) => void): Tree {
  if (tree.kind !== "object") return tree;
  const [project, another] = projectsIn(tree);
  if (project?.kind !== "object" || another) return tree;
  const twice = partsOf(tree).filter(([key]) => project.entries.has(key));
  for (const [key, { key: place }] of twice) {
    const first = project.entries.get(key)?.key;
    const line = first && positionOf(first).line;
    const where = typeof line === "number" ? ` (line ${line})` : "";
    const text = `${JSON.stringify(key)} is given here and in the project${where}`;
    complain({ place, pointer: `/${key}`, text, hint: "keep one of them" });
  }
  const names = new Set(twice.map(([key]) => key));
  return folded(
    withEntries(
      tree,
      [...tree.entries].filter(([key]) => !names.has(key)),
    ),
  );
}

/** A scenario in the whole form. */
export interface Whole {
  readonly tree: Tree;
  /** No file has `organizations`: the keys of the only project stand at the top. */
  readonly isShort: boolean;
}

/** All layers together, with defaults for what none of them has. */
export function completed(tree: Tree, complain: (problem: PlacedProblem) => void): Whole {
  if (tree.kind !== "object") return { tree, isShort: false };
  const isShort = !tree.entries.has("organizations");
  const left = isShort ? [] : partsOf(tree);
  const names = projectsIn(tree).flatMap((it) => nameOf(it) ?? []);
  for (const [key, { key: place }] of names.length > 1 ? left : []) {
    complain({
      place,
      pointer: `/${key}`,
      text: `${JSON.stringify(key)} at the top is for a scenario with one project, and this one has ${names.length}`,
      hint: `move it into one of them: ${names.map((it) => JSON.stringify(it)).join(", ")}`,
    });
  }
  const given = withEntries(tree, [...entriesOf(defaults, tree), ...withoutParts(tree).entries]);
  return { isShort, tree: isShort ? withProject(given, partsOf(tree)) : given };
}

function withProject(tree: ObjectTree, parts: readonly [string, Entry][]): Tree {
  const project = withEntries(tree, [...entriesOf(defaultProject, tree), ...parts]);
  const projects: Tree = { kind: "list", place: tree.place, items: [project] };
  const organizations = itemsOf(tree, "organizations").map((it) =>
    it.kind === "object"
      ? withEntries(it, [...it.entries, ["projects", { key: tree.place, tree: projects }]])
      : it,
  );
  const list: Tree = { kind: "list", place: tree.place, items: organizations };
  return withEntries(tree, [...tree.entries, ["organizations", { key: tree.place, tree: list }]]);
}

const entriesOf = (value: { readonly [key: string]: Json }, { place }: Tree): [string, Entry][] =>
  Object.entries(value).map(([key, it]) => [key, { key: place, tree: treeOf(it, place) }]);

function nameOf(project: Tree): string | undefined {
  const name = project.kind === "object" ? project.entries.get("name")?.tree : undefined;
  return name?.kind === "plain" ? String(name.value) : undefined;
}
