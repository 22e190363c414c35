import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { firstShown, shownCount } from "./window.ts";

interface ListProps {
  label: string;
  /** How many rows there are. */
  count: number;
  /** The cells of row `index`; 0 is at the top. */
  cellsAt(index: number): ComponentChildren;
  /** Stays the same for the same row, wherever it is. */
  keyAt(index: number): string | number;
  /** Classes of a row, e.g. by its outcome. */
  classAt?(index: number): string;
  /** The chosen row, or -1. */
  chosen: number;
  onChoose(index: number): void;
  /** How many rows were ever added at the top: then the list stays where it is, unless it is at the top. */
  added?: number;
  /** Told when the end comes near. */
  onNearEnd?(): void;
  /** Column titles. */
  head?: ComponentChildren;
  /** `grid-template-columns` as a class of the view's. */
  class?: string;
}

/** A list of any length of which only what is seen is drawn. Rows are of one height (--row). */
export function WindowedList(props: ListProps) {
  const { label, count, cellsAt, keyAt, classAt, chosen, onChoose, added = 0, onNearEnd, head } = props;
  const box = useRef<HTMLDivElement>(null);
  const rowHeight = useRef(28);
  const [view, setView] = useState({ top: 0, height: 600 });
  const seen = useRef(added);

  const look = () => {
    const it = box.current;
    if (it) setView({ top: it.scrollTop, height: it.clientHeight });
  };

  useLayoutEffect(() => {
    const it = box.current;
    if (!it) return;
    const probe = it.querySelector<HTMLElement>(".list-probe");
    rowHeight.current = probe?.offsetHeight || 28;
    const watcher = new ResizeObserver(look);
    watcher.observe(it);
    look();
    return () => watcher.disconnect();
  }, []);

  useLayoutEffect(() => {
    const it = box.current;
    const more = added - seen.current;
    seen.current = added;
    // who is reading further down keeps the place
    if (it && more > 0 && it.scrollTop > rowHeight.current / 2) it.scrollTop += more * rowHeight.current;
  }, [added]);

  useLayoutEffect(() => {
    const it = box.current;
    if (!it || chosen < 0) return;
    const [top, bottom] = [chosen * rowHeight.current, (chosen + 1) * rowHeight.current];
    if (top < it.scrollTop) it.scrollTop = top;
    else if (bottom > it.scrollTop + it.clientHeight) it.scrollTop = bottom - it.clientHeight;
  }, [chosen]);

  const first = firstShown(view.top, rowHeight.current, count);
  const shown = shownCount(view.height, rowHeight.current, count - first);
  if (onNearEnd && count > 0 && first + shown > count - 100) queueMicrotask(onNearEnd);

  return (
    <div
      class={`list ${props.class ?? ""}`}
      role="grid"
      aria-label={label}
      aria-rowcount={count + (head ? 1 : 0)}
    >
      {head !== undefined && (
        // biome-ignore lint/a11y/useFocusableInteractive: the rows take the focus
        <div class="list-head" role="row" aria-rowindex={1}>
          {head}
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot be drawn in part */}
      <div class="list-body" role="rowgroup" ref={box} onScroll={look} tabIndex={0}>
        <div class="list-probe" aria-hidden="true" />
        <div role="presentation" class="list-space" style={{ height: `${count * rowHeight.current}px` }}>
          <div
            role="presentation"
            class="list-window"
            style={{ transform: `translateY(${first * rowHeight.current}px)` }}
          >
            {Array.from({ length: shown }, (_, i) => {
              const index = first + i;
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the view's (j, k, Enter)
                <div
                  key={keyAt(index)}
                  role="row"
                  tabIndex={-1}
                  aria-rowindex={index + (head ? 2 : 1)}
                  aria-selected={index === chosen}
                  class={`list-row ${classAt?.(index) ?? ""}`}
                  onClick={() => onChoose(index)}
                >
                  {cellsAt(index)}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/** One cell of a row. */
export function Cell({ children, class: name = "", title }: CellProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the rows take the focus
    <span role="gridcell" class={`cell ${name}`} title={title}>
      {children}
    </span>
  );
}

/** A column's title. */
export function HeadCell({ children, class: name = "" }: CellProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the rows take the focus
    <span role="columnheader" class={`cell ${name}`}>
      {children}
    </span>
  );
}

interface CellProps {
  children?: ComponentChildren;
  class?: string;
  title?: string | undefined;
}
