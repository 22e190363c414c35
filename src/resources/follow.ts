import type { CollectionName, DocumentOf, Worlds } from "../model/world.ts";

/** Is told which documents came and which went; a changed one goes and comes. */
export interface Follower<T> {
  add(documents: readonly T[]): void;
  remove(documents: readonly T[]): void;
}

/** Where two lists differ. Documents keep their places, so that a change is one place, unless one was removed. */
function differences<T>(before: readonly T[], now: readonly T[]): { gone: T[]; come: T[] } {
  const gone: T[] = [];
  const come: T[] = [];
  for (let i = 0; i < Math.max(before.length, now.length); i++) {
    const was = before[i];
    const is = now[i];
    if (was === is) continue;
    if (was !== undefined) gone.push(was);
    if (is !== undefined) come.push(is);
  }
  return { gone, come };
}

/**
 * Keeps something in step with a collection: what is called before each read tells the follower of the
 * differences since the last read. An index of ten thousand documents costs a change of one only that one.
 */
export function follow<C extends CollectionName>(
  worlds: Worlds,
  collection: C,
  follower: Follower<DocumentOf<C>>,
): () => void {
  let seen = -1;
  let before: readonly DocumentOf<C>[] = [];
  return () => {
    const version = worlds.versionOf(collection);
    if (version === seen) return;
    seen = version;
    const now = worlds.current[collection] as readonly DocumentOf<C>[];
    const { gone, come } = differences(before, now);
    before = now.slice();
    if (gone.length > 0) follower.remove(gone);
    if (come.length > 0) follower.add(come);
  };
}
