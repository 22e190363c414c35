import type { Entry, ObjectTree, Tree } from "./tree.ts";

/**
 * How scenarios are laid over each other: objects merge by key, lists of named things by what they are
 * called, everything else is replaced; null takes away what the lower layer has. Things that both layers
 * name keep their place in the list, new ones come after them.
 */

interface Rule {
  /** Keys that tell what a thing of the list is called. The first that both things have decides. */
  readonly names?: readonly string[];
  /** Rules of the keys of the object, or of the things in the list. */
  readonly inside?: Readonly<Record<string, Rule>>;
  /** Objects of different forms are not mixed: both or neither must have the key. */
  readonly form?: string;
  /** The rule of every key. */
  readonly each?: Rule;
}

const byName: Rule = { names: ["id", "name"] };

const project: NonNullable<Rule["inside"]> = {
  dashboards: byName,
  dashboard_templates: { names: ["id", "template_name"] },
  insights: byName,
  flags: { each: { form: "filters" } },
  cohorts: byName,
  persons: { names: ["uuid", "distinct_ids"] },
  groups: { names: ["type+key"] },
  batch_exports: byName,
  surveys: byName,
  early_access_features: byName,
  product_tours: byName,
  web_experiments: byName,
  prompts: { names: ["name"] },
};

const scenario: Rule = {
  inside: {
    users: { names: ["id", "email"] },
    organizations: {
      names: ["id", "name"],
      inside: { projects: { names: ["id", "name"], inside: project } },
    },
    personal_api_keys: { names: ["key"] },
    geoip: { names: ["address"] },
    // Those of the only project may stand at the top.
    ...project,
  },
};

/** Lays one scenario over another, key by key (see only-project.ts). */
export const mergeScenarios = (lower: Tree, upper: Tree): Tree => merge(lower, upper, scenario);

/** Lays the keys of a project over those of another. */
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
  const entries = new Map<string, Entry>(lower.entries);
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

/** A thing below meets one thing above at most: what is there twice above stays there twice. */
function mergeLists(lower: readonly Tree[], upper: readonly Tree[], rule: NamedRule): Tree[] {
  const items = [...lower];
  const met = new Set<number>();
  for (const one of upper) {
    const at = lower.findIndex((it, i) => !met.has(i) && isSame(it, one, rule.names));
    const below = lower[at];
    if (below === undefined) items.push(one);
    else {
      met.add(at);
      items[at] = merge(below, one, rule);
    }
  }
  return items;
}

function isSame(a: Tree, b: Tree, names: readonly string[]): boolean {
  for (const name of names) {
    const [one, other] = [called(a, name), called(b, name)];
    if (one !== undefined && other !== undefined) return one === other;
  }
  return false;
}

/** What a thing is called by a key; of a list the first counts; `a+b` is both. */
function called(tree: Tree, name: string): string | undefined {
  if (name.includes("+")) {
    const parts = name.split("+").map((it) => called(tree, it));
    return parts.includes(undefined) ? undefined : JSON.stringify(parts);
  }
  const value = tree.kind === "object" ? tree.entries.get(name)?.tree : undefined;
  const first = value?.kind === "list" ? value.items[0] : value;
  if (first?.kind !== "plain" || first.value === null) return undefined;
  return name === "email" ? String(first.value).toLowerCase() : String(first.value);
}
