import type { CollectionName, Worlds } from "./world.ts";

/** A value computed from whole collections (an index, a sorted list), kept until one of them changes; read-only. */
export function derived<T>(worlds: Worlds, from: readonly CollectionName[], compute: () => T): () => T {
  let seen: readonly number[] = [];
  let value: { it: T } | undefined;
  return () => {
    const versions = from.map((name) => worlds.versionOf(name));
    if (!value || versions.some((version, i) => version !== seen[i])) {
      seen = versions;
      value = { it: compute() };
    }
    return value.it;
  };
}
