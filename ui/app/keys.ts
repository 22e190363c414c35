import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** A shortcut. */
export interface Key {
  /** As `KeyboardEvent.key` has it, or two after each other: `g e`. */
  readonly keys: string;
  /** What it does, for the sheet. */
  readonly does: string;
  run(event: KeyboardEvent): void;
}

/** Shortcuts of one place on the page. */
interface KeySet {
  readonly title: string;
  readonly keys: readonly Key[];
}

/** All that can be pressed now, the innermost last. */
export const keySets = signal<readonly KeySet[]>([]);

/** Shortcuts that hold while the component is there. */
export function useKeys(title: string, keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const mine: KeySet = {
      title,
      get keys() {
        return latest.current;
      },
    };
    keySets.value = [...keySets.value, mine];
    return () => {
      keySets.value = keySets.value.filter((it) => it !== mine);
    };
  }, [title]);
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The first of two keys stays in force so long, ms. */
const pairWithin = 1_000;

let first = { key: "", at: 0 };

function keyFor(pressed: string): Key | undefined {
  for (const { keys } of [...keySets.value].reverse()) {
    const found = keys.find((it) => it.keys === pressed);
    if (found) return found;
  }
  return undefined;
}

/** Listens to the keyboard. While somebody types, only Escape counts. */
export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event) && event.key !== "Escape") return;
    const isPair = event.timeStamp - first.at < pairWithin;
    const found = (isPair ? keyFor(`${first.key} ${event.key}`) : undefined) ?? keyFor(event.key);
    first = { key: event.key, at: event.timeStamp };
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}
