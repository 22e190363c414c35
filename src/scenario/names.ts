import type { Path } from "../base/json-pointer.ts";
import { createGuesses } from "../base/nearest.ts";
import type { Problem } from "./problems.ts";

/** Documents by what a scenario calls them. */
export interface Names<T> {
  /** @param id When two have the same, the first is found: that it is there twice is told elsewhere. */
  add(document: T, called: { name?: string | null; id?: string | number }): void;
  /** The document with the name or the id; a problem when there is none, or more than one. */
  find(called: string | number, at: Path): T | undefined;
}

/** @param what The noun, for the problems: `insight`. */
export function createNames<T>(what: string, problems: Problem[]): Names<T> {
  const byId = new Map<string, T>();
  const byName = new Map<string, T[]>();
  const guesses = createGuesses();
  const hintFor = (key: string): Pick<Problem, "hint"> => {
    const hint = guesses.meant(key, () => [...byName.keys(), ...byId.keys()], byName.size + byId.size);
    return hint === undefined ? {} : { hint };
  };
  return {
    add(document, { name, id }) {
      if (id !== undefined && !byId.has(String(id))) byId.set(String(id), document);
      if (typeof name !== "string") return;
      const same = byName.get(name);
      if (same) same.push(document);
      else byName.set(name, [document]);
    },
    find(called, at) {
      const key = String(called);
      const withId = byId.get(key);
      const [found, ...others] = new Set([
        ...(withId === undefined ? [] : [withId]),
        ...(byName.get(key) ?? []),
      ]);
      const shown = JSON.stringify(called);
      if (found === undefined) {
        problems.push({
          at,
          text: `unknown ${what} ${shown}`,
          called: key,
          ...(typeof called === "string" && hintFor(key)),
        });
      } else if (others.length > 0) {
        problems.push({ at, text: `${others.length + 1} ${what}s are called ${shown}` });
      }
      return found;
    },
  };
}
