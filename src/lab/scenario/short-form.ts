import type { Json } from "../../kernel/base/json.ts";
import { mergeProjects, mergeScenarios } from "./merge.ts";
import type { PlacedProblem } from "./problems.ts";
import { onlyProjectKeys } from "./schema.ts";
import { type ObjectTree, positionOf, type Tree, type TreeEntry, treeOf } from "./tree.ts";

/**
 * Most scenarios have one project. Its flags, persons, cohorts and so on may be at the top of the file, and missing
 * parts have defaults. This chapter makes the whole form, organizations with projects, which all other code reads.
 */

/** Those of `scenarios/default.json`, so that an app keeps its settings when its scenario changes. */
const defaults = {
  version: 1,
  organizations: [{ name: "Local" }],
  personal_api_keys: [{ key: "phx_sim_default", label: "Default key", scopes: ["*"] }],
} as const satisfies Json;

const defaultProject = { id: 1, name: "Default project", api_key: "phc_sim_default" } as const satisfies Json;

/** The only project of a scenario without `organizations`, in the whole form. */
export const onlyProjectPointer = "/organizations/0/projects/0";

type Complain = (problem: PlacedProblem) => void;

const withEntries = (tree: ObjectTree, entries: Iterable<readonly [string, TreeEntry]>): ObjectTree => ({
  ...tree,
  entries: new Map(entries),
});

/** The entries at the top that belong to the project, and all others. */
function split({ entries }: ObjectTree): { ofProject: [string, TreeEntry][]; others: [string, TreeEntry][] } {
  const all = [...entries];
  const isOfProject = ([key]: [string, TreeEntry]) => onlyProjectKeys.has(key);
  return { ofProject: all.filter(isOfProject), others: all.filter((it) => !isOfProject(it)) };
}

const itemsOf = (tree: Tree, key: string): readonly Tree[] => {
  const value = tree.kind === "object" ? tree.entries.get(key)?.tree : undefined;
  return value?.kind === "list" ? value.items : [];
};

const projectsIn = (tree: Tree): Tree[] => itemsOf(tree, "organizations").flatMap((it) => itemsOf(it, "projects"));

function onlyProjectOf(tree: Tree): ObjectTree | undefined {
  const [project, another] = projectsIn(tree);
  return project?.kind === "object" && !another ? project : undefined;
}

/** The tree with its only project replaced; undefined if it has none, or several. */
function withOnlyProject(tree: ObjectTree, change: (project: ObjectTree) => Tree): ObjectTree | undefined {
  const project = onlyProjectOf(tree);
  if (!project) return undefined;
  const replaced = (it: Tree): Tree => {
    if (it === project) return change(project);
    if (it.kind === "list") return { ...it, items: it.items.map(replaced) };
    return it.kind === "object" ? replacedIn(it) : it;
  };
  const replacedIn = (it: ObjectTree): ObjectTree =>
    withEntries(
      it,
      [...it.entries].map(([key, entry]): [string, TreeEntry] => {
        const leadsToProject = key === "organizations" || key === "projects";
        return [key, leadsToProject ? { ...entry, tree: replaced(entry.tree) } : entry];
      }),
    );
  return replacedIn(tree);
}

/** Moves the project's keys at the top into the only project, over what it has. Without one, the tree stays. */
function moved(tree: Tree): Tree {
  if (tree.kind !== "object") return tree;
  const { ofProject, others } = split(tree);
  if (ofProject.length === 0) return tree;
  const top = withEntries(tree, ofProject);
  return withOnlyProject(withEntries(tree, others), (project) => mergeProjects(project, top)) ?? tree;
}

/** Lays one scenario over another. The upper one wins, wherever the two have the keys of the only project. */
export function layOver(lower: Tree, upper: Tree): Tree {
  if (lower.kind !== "object" || upper.kind !== "object" || lower.entries.has("organizations")) {
    return moved(mergeScenarios(lower, upper));
  }
  const { ofProject, others } = split(lower);
  const top = withEntries(lower, ofProject);
  const over = withOnlyProject(upper, (project) => mergeProjects(top, project));
  return over ? mergeScenarios(withEntries(lower, others), over) : mergeScenarios(lower, upper);
}

/** One file, or one object of a program, with the keys at the top in its only project; a key in both is a problem. */
export function withProjectKeysMoved(tree: Tree, complain: Complain): Tree {
  const project = onlyProjectOf(tree);
  if (tree.kind !== "object" || !project) return tree;
  const repeated = split(tree).ofProject.filter(([key]) => project.entries.has(key));
  for (const [key, { key: place }] of repeated) {
    const first = project.entries.get(key)?.key;
    const line = first && positionOf(first).line;
    const where = typeof line === "number" ? ` (line ${line})` : "";
    const text = `${JSON.stringify(key)} is given here and in the project${where}`;
    complain({ place, pointer: `/${key}`, text, hint: "keep one of them" });
  }
  const names = new Set(repeated.map(([key]) => key));
  const entries = [...tree.entries].filter(([key]) => !names.has(key));
  return moved(withEntries(tree, entries));
}

export interface Whole {
  readonly tree: Tree;
  /** True if no file has `organizations`: the keys of the only project are at the top. */
  readonly isShort: boolean;
}

/** All layers together, with defaults for missing parts. */
export function completed(tree: Tree, complain: Complain): Whole {
  if (tree.kind !== "object") return { tree, isShort: false };
  const isShort = !tree.entries.has("organizations");
  const { ofProject, others } = split(tree);
  const names = projectsIn(tree).flatMap((it) => nameOf(it) ?? []);
  for (const [key, { key: place }] of !isShort && names.length > 1 ? ofProject : []) {
    complain({
      place,
      pointer: `/${key}`,
      text: `${JSON.stringify(key)} at the top is for a scenario with one project, and this one has ${names.length}`,
      hint: `move it into one of them: ${names.map((it) => JSON.stringify(it)).join(", ")}`,
    });
  }
  const given = withEntries(tree, [...entriesOf(defaults, tree), ...others]);
  return { isShort, tree: isShort ? withProject(given, ofProject) : given };
}

function withProject(tree: ObjectTree, parts: readonly [string, TreeEntry][]): Tree {
  const { place } = tree;
  const listOf = (items: readonly Tree[]): TreeEntry => ({ key: place, tree: { kind: "list", place, items } });
  const project = withEntries(tree, [...entriesOf(defaultProject, tree), ...parts]);
  const organizations = itemsOf(tree, "organizations").map((it) =>
    it.kind === "object" ? withEntries(it, [...it.entries, ["projects", listOf([project])]]) : it,
  );
  return withEntries(tree, [...tree.entries, ["organizations", listOf(organizations)]]);
}

const entriesOf = (value: { readonly [key: string]: Json }, { place }: Tree): [string, TreeEntry][] =>
  Object.entries(value).map(([key, it]) => [key, { key: place, tree: treeOf(it, place) }]);

function nameOf(project: Tree): string | undefined {
  const name = project.kind === "object" ? project.entries.get("name")?.tree : undefined;
  return name?.kind === "plain" ? String(name.value) : undefined;
}
