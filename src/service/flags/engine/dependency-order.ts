/** Items after those that they depend on, else in their order; those on a circle, and behind one, are left out. */
export function dependenciesFirst<T>(items: readonly T[], dependenciesOf: (item: T) => Iterable<T>): T[] {
  const dependents = new Map<T, T[]>(items.map((item) => [item, []]));
  const waiting = new Map<T, number>();
  for (const item of items) {
    const distinct = new Set(dependenciesOf(item));
    waiting.set(item, distinct.size);
    for (const it of distinct) dependents.get(it)?.push(item);
  }
  const ordered = items.filter((it) => waiting.get(it) === 0);
  for (const item of ordered) {
    for (const dependent of dependents.get(item) ?? []) {
      const left = (waiting.get(dependent) ?? 0) - 1;
      waiting.set(dependent, left);
      if (left === 0) ordered.push(dependent);
    }
  }
  return ordered;
}

/** The items, and all that can be reached from them, each once. */
export function reachedFrom<T>(items: Iterable<T>, next: (item: T) => Iterable<T>): Set<T> {
  const reached = new Set(items);
  for (const item of reached) for (const it of next(item)) reached.add(it);
  return reached;
}
