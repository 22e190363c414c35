import type { CollectionName, DocumentOf, Worlds } from "../../state/documents/world.ts";

interface Dated {
  readonly id: number;
  readonly created_at?: string | null | undefined;
}

/** Without the `Z` a whole second sorts before its fractions. */
const instant = ({ created_at }: Dated): string => created_at?.slice(0, -1) ?? "";

/** The order of lists: the last created first, and of those created at once the higher number. */
export function newestFirst(a: Dated, b: Dated): number {
  const left = instant(a);
  const right = instant(b);
  return left === right ? b.id - a.id : left < right ? 1 : -1;
}

/** Gets added and removed documents; a changed one is removed and added. */
interface Follower<T> {
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
 * Keeps an index in step with a collection: the returned function, called before each read, passes the follower the
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

type OfProject = {
  readonly [C in CollectionName]: DocumentOf<C> extends { project: number } ? C : never;
}[CollectionName];

interface SortedOptions<T> {
  /** A total order: never 0 for two documents. */
  compare(a: T, b: T): number;
  has(document: T): boolean;
}

/** More than this many new documents are sorted in, fewer are put in their places one by one. */
const few = 16;

function placeOf<T>(list: readonly T[], document: T, compare: (a: T, b: T) => number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, document) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function sortedByProject<C extends OfProject>(
  worlds: Worlds,
  collection: C,
  { compare, has }: SortedOptions<DocumentOf<C>>,
): (project: number) => readonly DocumentOf<C>[] {
  const lists = new Map<number, DocumentOf<C>[]>();

  function listOf(project: number): DocumentOf<C>[] {
    const list = lists.get(project) ?? [];
    lists.set(project, list);
    return list;
  }

  const sync = follow(worlds, collection, {
    add(documents) {
      const listed = documents.filter(has);
      for (const it of listed) {
        const list = listOf(it.project);
        if (listed.length > few) list.push(it);
        else list.splice(placeOf(list, it, compare), 0, it);
      }
      if (listed.length > few) for (const list of lists.values()) list.sort(compare);
    },
    remove(documents) {
      if (documents.length > few) {
        const gone = new Set(documents);
        for (const [project, list] of lists)
          lists.set(
            project,
            list.filter((it) => !gone.has(it)),
          );
        return;
      }
      for (const it of documents) {
        const list = listOf(it.project);
        const place = placeOf(list, it, compare);
        if (list[place] === it) list.splice(place, 1);
      }
    },
  });
  return (project) => {
    sync();
    return lists.get(project) ?? [];
  };
}
