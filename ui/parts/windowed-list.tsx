// biome-ignore-all lint/a11y/useSemanticElements: of a table's own elements no part can be drawn alone
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid takes the focus for all that is in it
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the grid takes the keys for its rows
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { firstShown, shownCount, stepTo, topFor } from "./list-positions.ts";

interface ListProps<Row> {
  label: string;
  count: number;
  /** Row of an index; 0 is at the top. */
  at(index: number): Row | undefined;
  cellsOf(row: Row): ComponentChildren;
  keyOf(row: Row): string | number;
  classOf?(row: Row): string;
  /** Index of the selected row, or -1. */
  chosen: number;
  onChoose(row: Row): void;
  /** Index of the row under the cursor, or -1 (default: managed by the list). */
  active?: number;
  onActive?(row: Row): void;
  /** Number of rows ever added at the top; the scroll position is kept unless at the top. */
  added?: number;
  onNearEnd?(): void;
  /** Called with the rows that are drawn, when these change. */
  onDrawn?(first: number, end: number): void;
  head?: ComponentChildren;
  /** A class that defines `--list-columns`. */
  class?: string;
  /** The columns, if they are not of a class. */
  template?: string;
  /** True for a row that divides others: it cannot be selected, and is passed over. */
  isDivider?(row: Row): boolean;
}

/** Sizes in px; `height` is without the head. */
interface Measures {
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
}

const usual: Measures = { top: 0, height: 600, rowHeight: 28 };
/** Distance from the end, in rows, at which more is loaded. */
const nearEnd = 100;

function measured(box: HTMLElement): Measures {
  const rowHeight = box.querySelector(".list-probe")?.getBoundingClientRect().height || usual.rowHeight;
  const head = box.querySelector<HTMLElement>(".list-head")?.offsetHeight ?? 0;
  return { top: box.scrollTop, height: Math.max(0, box.clientHeight - head), rowHeight };
}

/** True if both draw the same rows. */
const isSame = (a: Measures, b: Measures): boolean =>
  a.rowHeight === b.rowHeight &&
  a.height === b.height &&
  firstShown(a.top, a.rowHeight, Number.MAX_SAFE_INTEGER) === firstShown(b.top, b.rowHeight, Number.MAX_SAFE_INTEGER);

/** Measures the element and follows its size. */
function useMeasures() {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(usual);
  const look = () => {
    if (!box.current) return;
    const now = measured(box.current);
    setView((it) => (isSame(it, now) ? it : now));
  };
  useLayoutEffect(() => {
    if (!box.current) return;
    const watcher = new ResizeObserver(look);
    watcher.observe(box.current);
    look();
    return () => watcher.disconnect();
  }, []);
  return { box, view, look };
}

/**
 * A list of any length that draws only visible rows, all of height --row. Arrows, Home, End and the page keys move,
 * Enter selects; while a row is selected, moving selects.
 */
export function WindowedList<Row>(props: ListProps<Row>) {
  const { label, count, at, cellsOf, keyOf, classOf, chosen, added = 0, onNearEnd, head, template } = props;
  const { box, view, look } = useMeasures();
  const [marked, setMarked] = useState(-1);
  const id = useId();
  const seen = useRef(added);
  const isKept = props.active === undefined;
  const active = chosen >= 0 ? chosen : Math.min(props.active ?? marked, count - 1);
  const mark = (index: number) => {
    setMarked(index);
    const row = at(index);
    if (row !== undefined) props.onActive?.(row);
  };
  const choose = (index: number) => {
    const row = at(index);
    if (row !== undefined) props.onChoose(row);
  };
  const keyAt = (index: number) => {
    const row = at(index);
    return row === undefined ? `none-${index}` : keyOf(row);
  };

  useLayoutEffect(() => {
    const it = box.current;
    const more = added - seen.current;
    seen.current = added;
    if (!it || more <= 0) return;
    setMarked((index) => (index < 0 ? index : index + more));
    const { rowHeight } = measured(it);
    // keeps the scroll position unless at the top
    if (it.scrollTop > rowHeight / 2) it.scrollTop += more * rowHeight;
    look();
  }, [added]);

  const reveal = (index: number) => {
    const it = box.current;
    if (!it || index < 0) return;
    const { top, height, rowHeight } = measured(it);
    it.scrollTop = topFor(index, top, height, rowHeight);
    look();
  };
  // by key: the index changes as rows are added above
  const sought = chosen >= 0 || !isKept ? active : -1;
  const soughtKey = sought >= 0 ? keyAt(sought) : undefined;
  useLayoutEffect(() => {
    if (chosen >= 0) setMarked(chosen);
    reveal(sought);
  }, [soughtKey]);

  const first = firstShown(view.top, view.rowHeight, count);
  const shown = shownCount(view.height, view.rowHeight, count - first);
  const isNearEnd = count > 0 && first + shown > count - nearEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, count, onNearEnd]);

  const isPassed = (index: number) => {
    const row = at(index);
    return row !== undefined && props.isDivider?.(row) === true;
  };
  /** The next row from here that is no divider, in the direction of the step, else in the other. */
  const landing = (target: number) => {
    const step = target < active ? -1 : 1;
    for (const by of [step, -step])
      for (let index = target; index >= 0 && index < count; index += by) if (!isPassed(index)) return index;
    return undefined;
  };
  const { onDrawn } = props;
  useEffect(() => onDrawn?.(first, first + shown), [first, shown, onDrawn]);

  const press = (event: KeyboardEvent) => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const isChoice = (event.key === "Enter" || event.key === " ") && active >= 0;
    const page = Math.max(1, Math.floor(view.height / view.rowHeight) - 1);
    const next = isChoice ? active : stepTo(event.key, active, count, page);
    const target = next === undefined ? undefined : landing(next);
    if (target === undefined) return;
    event.preventDefault();
    mark(target);
    reveal(target);
    if (isChoice || chosen >= 0) choose(target);
  };

  const rowAt = (index: number) => {
    const row = at(index);
    if (row !== undefined && isPassed(index))
      return (
        <div role="row" key={keyAt(index)} class="list-divider" aria-rowindex={index + (head === undefined ? 1 : 2)}>
          {cellsOf(row)}
        </div>
      );
    return (
      <div
        role="row"
        key={keyAt(index)}
        id={`${id}-${index}`}
        aria-rowindex={index + (head === undefined ? 1 : 2)}
        aria-selected={index === chosen}
        class={`list-row ${index === active ? "is-active" : ""} ${row && classOf ? classOf(row) : ""}`}
        onClick={(event) => {
          if (isOnControl(event)) return;
          mark(index);
          choose(index);
        }}
      >
        {row && cellsOf(row)}
      </div>
    );
  };

  const isActiveDrawn = active >= first && active < first + shown;
  return (
    <div
      class={`list ${props.class ?? ""}`}
      style={template === undefined ? undefined : { "--list-columns": template }}
    >
      <div
        role="grid"
        class="list-body"
        ref={box}
        tabIndex={0}
        aria-label={label}
        aria-rowcount={count + (head === undefined ? 0 : 1)}
        aria-activedescendant={isActiveDrawn ? `${id}-${active}` : undefined}
        onScroll={look}
        onKeyDown={press}
      >
        {head !== undefined && (
          <div role="rowgroup" class="list-top">
            <div role="row" class="list-head" aria-rowindex={1}>
              {head}
            </div>
          </div>
        )}
        <div class="list-probe" aria-hidden="true" />
        <div role="presentation" class="list-space" style={{ height: `${count * view.rowHeight}px` }}>
          <div role="rowgroup" class="list-window" style={{ transform: `translateY(${first * view.rowHeight}px)` }}>
            {Array.from({ length: shown }, (_, i) => rowAt(first + i))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** True for a click on a control inside a row. */
const isOnControl = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("a, button, input, select, summary") !== null;

export function Cell({ children, class: name = "", title }: CellProps) {
  return (
    <span role="gridcell" class={`cell ${name}`} title={title}>
      {children}
    </span>
  );
}

export function HeadCell({ children, class: name = "", title }: CellProps) {
  return (
    <span role="columnheader" class={`cell ${name}`} title={title}>
      {children}
    </span>
  );
}

interface CellProps {
  children?: ComponentChildren;
  class?: string;
  title?: string | undefined;
}
