/** A map that keeps its newest keys, up to a limit. */
export interface RecentMap<K, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  values(): IterableIterator<V>;
}

export function recentMap<K, V>(most: number): RecentMap<K, V> {
  const map = new Map<K, V>();
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    set(key, value) {
      map.set(key, value);
      if (map.size <= most) return;
      for (const oldest of map.keys()) {
        map.delete(oldest);
        return;
      }
    },
    delete: (key) => void map.delete(key),
    clear: () => map.clear(),
    values: () => map.values(),
  };
}

/** The value of a key; a missing one is made. */
export function madeIn<K, V>(map: Pick<RecentMap<K, V>, "get" | "set">, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
