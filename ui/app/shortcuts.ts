export interface KeyPress {
  readonly target: unknown;
}

export interface Key {
  /** A value of `KeyboardEvent.key`, or two pressed in sequence: `g e`. */
  readonly keys: string;
  /** Description in the list of shortcuts. */
  readonly does: string;
  run(event: KeyPress): void;
}

export interface KeySet {
  readonly title: string;
  readonly keys: readonly Key[];
}

/** The innermost shortcut for a key. */
export function keyFor(pressed: string, sets: readonly KeySet[]): Key | undefined {
  for (const { keys } of sets.toReversed()) {
    const found = keys.find((it) => it.keys === pressed);
    if (found) return found;
  }
  return undefined;
}

/** The shortcuts to list; those overridden by an inner one are left out. */
export const shownKeys = (sets: readonly KeySet[]): KeySet[] =>
  sets
    .map(({ title, keys }, i) => ({ title, keys: keys.filter((it) => keyFor(it.keys, sets.slice(i)) === it) }))
    .filter(({ keys }) => keys.length > 0);

/** Time between the two keys of a sequence, ms. */
const pairWithin = 1_000;

const modifiers: ReadonlySet<string> = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

/** Finds the shortcut of each key press, including sequences of two. */
export function createPresses() {
  let first = { key: "", at: Number.NEGATIVE_INFINITY };
  /** @param at Time of the press, ms */
  return (key: string, at: number, sets: readonly KeySet[]): Key | undefined => {
    if (modifiers.has(key)) return undefined;
    const pair = at - first.at < pairWithin ? keyFor(`${first.key} ${key}`, sets) : undefined;
    first = pair ? { key: "", at: Number.NEGATIVE_INFINITY } : { key, at };
    return pair ?? keyFor(key, sets);
  };
}
