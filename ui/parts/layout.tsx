import type { ComponentChildren, JSX, Ref, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./basics.tsx";
import { keep, kept } from "./browser-storage.ts";

/** Scrolls the current part of an element into view when `current` changes. */
export function useCurrentInView<E extends Element>(current: unknown): Ref<E> {
  const box = useRef<E>(null);
  useLayoutEffect(() => {
    box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return box;
}

/** Width of an element, px; before it is known, that of a usual list. */
export function useWidth(box: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(900);
  useLayoutEffect(() => {
    const it = box.current;
    if (!it) return;
    const watcher = new ResizeObserver(() => setWidth(it.clientWidth));
    watcher.observe(it);
    setWidth(it.clientWidth);
    return () => watcher.disconnect();
  }, [box]);
  return width;
}

/** Tabs of a view. Each is a link: the current one is part of the address. */
export function Tabs({ label, tabs, current }: TabsProps) {
  const box = useCurrentInView<HTMLElement>(current);
  return (
    <nav class="tabs" aria-label={label} ref={box}>
      {tabs.map(({ id, title, href, count }) => (
        <a key={id} href={href} class="tab" aria-current={id === current ? "page" : undefined}>
          {title}
          {count !== undefined && <span class="faint">{count}</span>}
        </a>
      ))}
    </nav>
  );
}

interface TabsProps {
  label: string;
  tabs: readonly { id: string; title: ComponentChildren; href: string; count?: number | string | undefined }[];
  current: string;
}

const [narrowest, widest, step] = [25, 75, 2] as const;
/** Where the width of the details is stored, and their usual share in percent; `wide`: the list is an index of the details. */
const narrow = ["phx-sim-split", 45] as const;
const wide = ["phx-sim-split-wide", 72] as const;

const within = (share: number): number => Math.round(Math.max(narrowest, Math.min(widest, share)));

/** The stored width of the details, in percent. */
const keptShare = (name: string, otherwise: number): number => {
  const share = Number(kept(name) ?? Number.NaN);
  return Number.isFinite(share) ? within(share) : otherwise;
};

/** True if the details cover the list. */
const isOver = () => matchMedia("(max-width: 60rem)").matches;

/** A list with details beside it, or on top of it in a narrow window. */
export function Split({ list, details, label, onClose, isWide = false }: SplitProps) {
  const [name, otherwise] = isWide ? wide : narrow;
  const [share, setShare] = useState(() => keptShare(name, otherwise));
  const box = useRef<HTMLDivElement>(null);
  const isOpen = details !== undefined;
  const wasOpen = useRef(isOpen);
  useLayoutEffect(() => {
    if (wasOpen.current === isOpen) return;
    wasOpen.current = isOpen;
    // the focus must be visible, and may have been in the closed details
    const isLost = !isOpen && document.activeElement === document.body;
    if (!isLost && !isOver()) return;
    const find = (selector: string) => box.current?.querySelector<HTMLElement>(selector);
    // the rows of a list come before what else can have the focus in it
    const target = isOpen
      ? find(".split-details")
      : (find(".split-list .list-body") ?? find(".split-list [tabindex='0']"));
    target?.focus({ preventScroll: true });
  }, [isOpen]);
  const resize = (to: number) => {
    setShare(within(to));
    keep(name, String(within(to)));
  };
  return (
    <div class={isOpen ? "split split-open" : "split"} ref={box} style={{ "--split-share": `${share}%` }}>
      <div class="split-list">{list}</div>
      {isOpen && (
        <>
          <Divider share={share} usual={otherwise} onResize={resize} />
          <aside class="split-details" aria-label={label} tabIndex={-1}>
            <button type="button" class="button button-quiet split-close" onClick={onClose}>
              <span class="split-back">‹ Back</span>
              <span class="split-cross">
                <span aria-hidden="true">✕</span>
                <span class="unseen">Close the details</span>
              </span>
            </button>
            {details}
          </aside>
        </>
      )}
    </div>
  );
}

const keys: Readonly<Record<string, number>> = { ArrowLeft: step, ArrowRight: -step };

function Divider({ share, usual, onResize }: DividerProps) {
  const drag = (event: PointerEvent) => {
    const handle = event.currentTarget;
    if (!(handle instanceof HTMLElement) || !handle.hasPointerCapture(event.pointerId)) return;
    const room = handle.parentElement?.getBoundingClientRect();
    if (room) onResize(((room.right - event.clientX) / room.width) * 100);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      class="split-divider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the details"
      aria-valuenow={share}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDblClick={() => onResize(usual)}
      onKeyDown={(event) => {
        const by = keys[event.key];
        if (by === undefined) return;
        event.preventDefault();
        onResize(share + by);
      }}
    />
  );
}

interface DividerProps {
  share: number;
  usual: number;
  onResize(share: number): void;
}

interface SplitProps {
  list: ComponentChildren;
  /** undefined: closed. */
  details: ComponentChildren | undefined;
  label: string;
  /** The details are a page of their own. */
  isWide?: boolean;
  onClose(): void;
}

/** A table with column titles; a column is its title, or its title and the class of the title's cell. */
export function Table({ columns, class: name, body, children }: TableProps) {
  return (
    <table class={name === undefined ? "table" : `table ${name}`}>
      <thead>
        <tr>
          {columns.map((column, i) => {
            const [title, cell] = Array.isArray(column) ? column : [column];
            return (
              <th key={i} scope="col" class={cell}>
                {title}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody ref={body}>{children}</tbody>
    </table>
  );
}

interface TableProps {
  columns: readonly (string | JSX.Element | [title: string, cell: string])[];
  class?: string;
  body?: Ref<HTMLTableSectionElement>;
  children: ComponentChildren;
}

/** Buttons to the pages of a list; nothing if it has one page. */
export function Pages({ offset, size, hasMore, total, onTurn }: PagesProps) {
  if (offset === 0 && !hasMore) return null;
  return (
    <span class="row">
      <Button disabled={offset === 0} onClick={() => onTurn(Math.max(0, offset - size))}>
        Earlier
      </Button>
      {total !== undefined && (
        <span class="muted">
          {offset + 1}–{Math.min(total, offset + size)}
        </span>
      )}
      <Button disabled={!hasMore} onClick={() => onTurn(offset + size)}>
        Later
      </Button>
    </span>
  );
}

interface PagesProps {
  offset: number;
  /** Items of a page. */
  size: number;
  hasMore: boolean;
  /** Number of items, if known. */
  total?: number;
  onTurn(offset: number): void;
}
