import { groupedBy } from "../../kernel/base/grouped-by.ts";
import type { Path } from "../../kernel/base/json.ts";

/** A reference from one flag or cohort to another, and its place. */
export interface Reference {
  readonly from: number;
  readonly to: number;
  readonly at: Path;
}

/** Circles of references; each document is in one of them at most. */
export function circlesIn(references: readonly Reference[]): Reference[][] {
  const from = groupedBy(references, (it) => it.from);
  const done = new Set<number>();
  const circles: Reference[][] = [];
  for (const start of from.keys()) {
    if (done.has(start)) continue;
    // depth-first without recursion: a chain may have thousands of members
    const way: { readonly id: number; next: number; by?: Reference }[] = [{ id: start, next: 0 }];
    const position = new Map([[start, 0]]);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const reference = from.get(top.id)?.[top.next++];
      if (!reference) {
        done.add(top.id);
        position.delete(top.id);
        way.pop();
        continue;
      }
      const back = position.get(reference.to);
      if (back !== undefined) {
        const members = way.slice(back);
        if (members.some(({ id }) => done.has(id))) continue;
        circles.push([...members.slice(1).flatMap(({ by }) => by ?? []), reference]);
        for (const { id } of members) done.add(id);
      } else if (!done.has(reference.to)) {
        position.set(reference.to, way.length);
        way.push({ id: reference.to, next: 0, by: reference });
      }
    }
  }
  return circles;
}
