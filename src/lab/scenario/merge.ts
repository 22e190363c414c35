import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { organizationParts, projectParts, scenarioParts } from "./parts.ts";
import type { ObjectTree, Tree, TreeEntry } from "./tree.ts";

/**
 * Lays scenarios over each other: objects merge by key, lists of named things by their names, everything else is
 * replaced; null removes a key of the lower layer. Things that both layers name keep their place in the list, new
 * ones come after them.
 */

interface Rule {
  /** Keys that identify a thing of the list. The first that both things have decides. */
  readonly names?: readonly string[];
  /** Rules of the keys of the object, or of the things in the list. */
  readonly inside?: Readonly<Record<string, Rule>>;
  /** Objects of different forms are not mixed: both or neither must have the key. */
  readonly form?: string;
  readonly each?: Rule;
}

const project: NonNullable<Rule["inside"]> = { ...projectParts, flags: { each: { form: "filters" } } };

const scenario: Rule = {
  inside: {
    ...scenarioParts,
    organizations: {
      ...scenarioParts.organizations,
      inside: { ...organizationParts, projects: { ...scenarioParts.projects, inside: project } },
    },
    // those of the only project may be at the top
    ...project,
  },
};

/** Lays one scenario over another, key by key (see short-form.ts). */
export const mergeScenarios = (lower: Tree, upper: Tree): Tree => merge(lower, upper, scenario);

export const mergeProjects = (lower: Tree, upper: Tree): Tree => merge(lower, upper, { inside: project });

function merge(lower: Tree, upper: Tree, rule: Rule): Tree {
  if (lower.kind === "object" && upper.kind === "object") {
    const isMixed = rule.form !== undefined && lower.entries.has(rule.form) !== upper.entries.has(rule.form);
    return isMixed ? upper : mergeObjects(lower, upper, rule);
  }
  if (lower.kind === "list" && upper.kind === "list" && rule.names) {
    return { ...upper, items: mergeLists(lower.items, upper.items, { ...rule, names: rule.names }) };
  }
  return upper;
}

const isNull = (tree: Tree): boolean => tree.kind === "plain" && tree.value === null;

function mergeObjects(lower: ObjectTree, upper: ObjectTree, { inside, each = {} }: Rule): ObjectTree {
  const entries = new Map<string, TreeEntry>(lower.entries);
  for (const [key, entry] of upper.entries) {
    const below = lower.entries.get(key);
    if (!below) entries.set(key, entry);
    else if (isNull(entry.tree)) entries.delete(key);
    else {
      const rule = inside && Object.hasOwn(inside, key) ? inside[key] : each;
      entries.set(key, { key: entry.key, tree: merge(below.tree, entry.tree, rule ?? {}) });
    }
  }
  return { ...upper, entries };
}

type NamedRule = Rule & { readonly names: readonly string[] };

/** A lower thing is merged with one upper thing at most: repeated upper things stay repeated. */
function mergeLists(lower: readonly Tree[], upper: readonly Tree[], rule: NamedRule): Tree[] {
  const items = [...lower];
  const positions = positionsByName(lower, rule.names);
  const merged = new Set<number>();
  for (const one of upper) {
    const at = positionIn(one, lower, positions, merged, rule.names);
    const below = at === undefined ? undefined : lower[at];
    if (at === undefined || below === undefined) items.push(one);
    else {
      merged.add(at);
      items[at] = merge(below, one, rule);
    }
  }
  return items;
}

/** Positions of the things with each name, by the key that holds it and the name. */
type Positions = ReadonlyMap<string, ReadonlyMap<string | undefined, number[]>>;

const positionsByName = (list: readonly Tree[], names: readonly string[]): Positions =>
  new Map(names.map((key) => [key, groupedBy(list.keys(), (i) => nameOf(list[i], key))]));

/** The first lower thing with the same name that is not merged yet. */
function positionIn(
  one: Tree,
  lower: readonly Tree[],
  positions: Positions,
  merged: ReadonlySet<number>,
  names: readonly string[],
): number | undefined {
  const found = names.flatMap((key) => {
    const name = nameOf(one, key);
    const candidates = (name !== undefined && positions.get(key)?.get(name)) || [];
    const at = candidates.find((i) => !merged.has(i) && isSame(lower[i] ?? one, one, names));
    // merged things are never candidates again
    while (merged.has(candidates[0] ?? -1)) candidates.shift();
    return at ?? [];
  });
  return found.length === 0 ? undefined : Math.min(...found);
}

function isSame(a: Tree, b: Tree, names: readonly string[]): boolean {
  for (const name of names) {
    const [one, other] = [nameOf(a, name), nameOf(b, name)];
    if (one !== undefined && other !== undefined) return one === other;
  }
  return false;
}

/** The name of a thing by a key; the first item of a list; `a+b` is both. */
function nameOf(tree: Tree | undefined, name: string): string | undefined {
  if (name.includes("+")) {
    const parts = name.split("+").map((it) => nameOf(tree, it));
    return parts.includes(undefined) ? undefined : JSON.stringify(parts);
  }
  const value = tree?.kind === "object" ? tree.entries.get(name)?.tree : undefined;
  const first = value?.kind === "list" ? value.items[0] : value;
  if (first?.kind !== "plain" || first.value === null) return undefined;
  return name === "email" ? String(first.value).toLowerCase() : String(first.value);
}
