import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { stepTo } from "./window.ts";

/** Something that can be done. */
export interface MenuItem {
  readonly label: string;
  /** A few words more. */
  readonly note?: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  run(): void;
}

interface MenuProps {
  /** What stands on the button. */
  label: ComponentChildren;
  /** The button's and the list's name, where the label does not say it. */
  title?: string;
  items: readonly MenuItem[];
  kind?: "plain" | "quiet" | "main";
}

/** Below the button, or above it where there is no room; never outside of the window. */
function place(list: HTMLElement, button: HTMLElement): void {
  const [at, size] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  const fitsBelow = at.bottom + size.height <= innerHeight || at.top < size.height;
  const left = Math.max(0, Math.min(at.left, innerWidth - size.width));
  list.style.setProperty("left", `${left}px`);
  list.style.setProperty("top", `${fitsBelow ? at.bottom : at.top - size.height}px`);
}

const itemsOf = (list: HTMLElement | null): HTMLElement[] =>
  list ? [...list.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)")] : [];

/** The item that a key leads to: the arrows, Home, End, or the next that begins with the letter. */
function target(key: string, items: readonly HTMLElement[]): HTMLElement | undefined {
  const at = items.findIndex((it) => it === document.activeElement);
  if (key === "ArrowDown" && at === items.length - 1) return items[0];
  if (key === "ArrowUp" && at <= 0) return items.at(-1);
  const step = stepTo(key, at, items.length, items.length);
  if (step !== undefined) return items[step];
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find((it) =>
    it.textContent?.trim().toLowerCase().startsWith(letter),
  );
}

/** A button that opens a list of what can be done. Arrows move in it, Escape closes it. */
export function Menu({ label, title, items, kind = "plain" }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const close = () => {
    if (isOpen) list.current?.hidePopover();
    button.current?.focus();
  };
  const toggled = (event: Event & { newState?: string }) => {
    const opens = event.newState === "open";
    setOpen(opens);
    if (!opens || !list.current || !button.current) return;
    place(list.current, button.current);
    itemsOf(list.current)[0]?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape" || event.key === "Tab") close();
    else {
      const next = target(event.key, itemsOf(list.current));
      if (!next) return;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <button
        type="button"
        class={`button button-${kind}`}
        ref={button}
        popovertarget={id}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={title}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isOpen) return;
          event.preventDefault();
          list.current?.showPopover();
        }}
      >
        {label}
        <span class="menu-mark" aria-hidden="true">
          ▾
        </span>
      </button>
      <div
        class="menu"
        role="menu"
        popover="auto"
        id={id}
        ref={list}
        onToggle={toggled}
        onKeyDown={press}
        aria-label={title}
      >
        {items.map(({ label: words, note, isDanger, isDisabled, run }) => (
          <button
            key={words}
            type="button"
            role="menuitem"
            tabIndex={-1}
            disabled={isDisabled}
            class={isDanger ? "menu-item menu-danger" : "menu-item"}
            onClick={() => {
              close();
              run();
            }}
          >
            {words}
            {note !== undefined && <span class="menu-note">{note}</span>}
          </button>
        ))}
      </div>
    </>
  );
}
