/** What is asked of a keyboard event. */
export interface KeyPress {
  /** The element that had the focus. */
  readonly target: unknown;
}

/** A shortcut. */
export interface Key {
  /** As `KeyboardEvent.key` has it, or two after each other: `g e`. */
  readonly keys: string;
  /** What it does, for the sheet. */
  readonly does: string;
  run(event: KeyPress): void;
}

/** Shortcuts of one place on the page. */
export interface KeySet {
  readonly title: string;
  readonly keys: readonly Key[];
}

/** The shortcut that a press means: the innermost one. */
export function keyFor(pressed: string, sets: readonly KeySet[]): Key | undefined {
  for (const { keys } of sets.toReversed()) {
    const found = keys.find((it) => it.keys === pressed);
    if (found) return found;
  }
  return undefined;
}

/** What the sheet shows: each shortcut where it holds, those that another one hides left out. */
export const shownKeys = (sets: readonly KeySet[]): KeySet[] =>
  sets
    .map(({ title, keys }, i) => ({
      title,
      keys: keys.filter((it) => keyFor(it.keys, sets.slice(i)) === it),
    }))
    .filter(({ keys }) => keys.length > 0);

/** The first of two keys stays in force so long, ms. */
const pairWithin = 1_000;

/** Keys that are held while others are pressed. */
const modifiers: ReadonlySet<string> = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

/** Finds the shortcut of each press, also where two presses make one. */
export function createPresses() {
  let first = { key: "", at: Number.NEGATIVE_INFINITY };
  /** @param at When it was pressed, ms */
  return (key: string, at: number, sets: readonly KeySet[]): Key | undefined => {
    if (modifiers.has(key)) return undefined;
    const pair = at - first.at < pairWithin ? keyFor(`${first.key} ${key}`, sets) : undefined;
    first = pair ? { key: "", at: Number.NEGATIVE_INFINITY } : { key, at };
    return pair ?? keyFor(key, sets);
  };
}
