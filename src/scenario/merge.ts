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
  const places = placesByName(lower, rule.names);
  const met = new Set<number>();
  for (const one of upper) {
    const at = placeOf(one, lower, places, met, rule.names);
    const below = at === undefined ? undefined : lower[at];
    if (at === undefined || below === undefined) items.push(one);
    else {
      met.add(at);
      items[at] = merge(below, one, rule);
    }
  }
  return items;
}

/** Positions of the things with each name, by the key that holds it and the name. */
type Places = ReadonlyMap<string, ReadonlyMap<string, number[]>>;

function placesByName(list: readonly Tree[], names: readonly string[]): Places {
  const indexOf = (key: string): Map<string, number[]> => {
    const index = new Map<string, number[]>();
    for (const [i, it] of list.entries()) {
      const name = called(it, key);
      if (name === undefined) continue;
      const places = index.get(name);
      if (places) places.push(i);
      else index.set(name, [i]);
    }
    return index;
  };
  return new Map(names.map((key) => [key, indexOf(key)]));
}

/** The first thing below that is the same and has met none yet. */
function placeOf(
  one: Tree,
  lower: readonly Tree[],
  places: Places,
  met: ReadonlySet<number>,
  names: readonly string[],
): number | undefined {
  const found = names.flatMap((key) => {
    const candidates = places.get(key)?.get(called(one, key) ?? "") ?? [];
    const at = candidates.find((i) => !met.has(i) && isSame(lower[i] ?? one, one, names));
    // What has met one is passed over for good.
    while (met.has(candidates[0] ?? -1)) candidates.shift();
    return at ?? [];
  });
  return found.length === 0 ? undefined : Math.min(...found);
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
