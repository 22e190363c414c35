import type { CollectionName, DocumentOf, Worlds } from "../model/world.ts";
import { follow } from "./follow.ts";

type OfProject = {
  readonly [C in CollectionName]: DocumentOf<C> extends { project: number } ? C : never;
}[CollectionName];

interface SortedOptions<T> {
  /** A total order: never 0 for two documents. */
  compare(a: T, b: T): number;
  /** Which documents are in the lists. */
  has(document: T): boolean;
}

/** More than this many new documents are sorted in, fewer are put in their places one by one. */
const few = 16;

/** Index of the first document that is not before `document`. */
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

/** The documents of each project in order, kept in step with the collection. */
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

/** Code points, as a database without a language sorts. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
