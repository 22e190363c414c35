import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { stepped } from "../parts/list-positions.ts";
import { createPresses, type Key, type KeySet } from "./shortcuts.ts";

export const keySets = signal<readonly KeySet[]>([]);

/** Adds shortcuts while the component is mounted. */
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

/** j and k: the next and the previous item of a list; `at` is the index of the selected one, or -1. */
export function stepKeys<T>(noun: string, items: readonly T[], at: number, choose: (item: T) => void): Key[] {
  const step = (by: number) => () => {
    const item = items[stepped(at, by, items.length)];
    if (item !== undefined) choose(item);
  };
  return [
    { keys: "j", does: `Next ${noun}`, run: step(1) },
    { keys: "k", does: `Previous ${noun}`, run: step(-1) },
  ];
}

const notText = /^(?:checkbox|radio|button|submit|reset|range|color|file)$/;

const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(?:TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !notText.test(target.type)));

/** True if the focused element handles the key itself. */
const isItsOwn = ({ key, target }: KeyboardEvent): boolean =>
  (key === "Enter" || key === " ") &&
  target instanceof Element &&
  target.closest("button, a, summary, input, [role=option]") !== null;

/** Handles key presses. In a text field only Escape counts; an open dialog receives all keys itself. */
export function listenToKeys(): void {
  const pressed = createPresses();
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (isItsOwn(event)) return;
    const found = pressed(event.key, event.timeStamp, keySets.value);
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}
