import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Json } from "../../../src/kernel/json.ts";
import type { Path } from "../../../src/kernel/json-pointer.ts";
import { prettyJson } from "../../copy/quote.ts";
import { CopyButton } from "../basics.tsx";
import { counted, sizeText } from "../text.ts";
import type { Groups } from "./groups.ts";
import {
  firstState,
  jsonPath,
  reveal,
  revealAll,
  rowsOf,
  searchIn,
  showMore,
  showWhole,
  stepFor,
  type TreeOptions,
  type TreeRow,
  type TreeState,
  turn,
} from "./model.ts";
import { RowParts } from "./row.tsx";
import { TreeSearch } from "./search.tsx";
import { finderOf, linkOf } from "./text.ts";

interface TreeProps {
  /** Whatever JSON: it is shown as text only. */
  value: Json;
  /** What the tree is of, for screen readers. */
  label?: string;
  /** Shows a search box above. */
  search?: boolean;
  /** The root's properties in groups. */
  groups?: Groups;
  /** Levels that are open at first, from 1. */
  open?: number;
}

/**
 * JSON as a tree to look at, search in and copy from. Big values are drawn as far as they are asked for: texts up to
 * 4,096 characters, a hundred children of a node.
 */
export function PayloadTree({ value, label = "Payload", search = false, groups, open = 1 }: TreeProps) {
  const options = useMemo<TreeOptions>(() => ({ groups, open }), [groups, open]);
  const [text, setText] = useState("");
  const [hit, setHit] = useState(0);
  const [state, setState] = useState<TreeState>(firstState);
  const found = useMemo(() => searchIn(value, text, options), [value, text, options]);
  const rows = useMemo(() => rowsOf(value, state, options), [value, state, options]);
  const finder = useMemo(() => finderOf(text), [text]);
  const [focused, setFocused] = useState("");
  const look = (typed: string) => {
    setText(typed);
    setHit(0);
    const hits = searchIn(value, typed, options);
    setState((it) => revealAll(it, hits));
    setFocused(hits.hits[0]?.id ?? "");
  };
  const goTo = (index: number) => {
    const next = found.hits[index];
    if (next === undefined) return;
    setHit(index);
    setState((it) => reveal(it, next));
    setFocused(next.id);
  };
  return (
    <div class="tree">
      {search && (
        <TreeSearch
          text={text}
          found={found}
          current={hit}
          onText={look}
          onGo={goTo}
          size={sizeOfJson(value)}
        />
      )}
      <Lines
        root={value}
        rows={rows}
        label={label}
        finder={finder}
        focused={focused}
        isFollowing={text !== ""}
        onFocus={setFocused}
        onChange={setState}
      />
    </div>
  );
}

const encoder = new TextEncoder();
const sizes = new WeakMap<object, string>();

/** How large the value is as JSON; counted once. */
function sizeOfJson(value: Json): string {
  if (typeof value !== "object" || value === null) return "";
  const known = sizes.get(value) ?? sizeText(encoder.encode(JSON.stringify(value)).length);
  sizes.set(value, known);
  return known;
}

interface LinesProps {
  root: Json;
  rows: readonly TreeRow[];
  label: string;
  finder: RegExp | undefined;
  focused: string;
  /** Is the focused row brought into sight without having the keyboard? */
  isFollowing: boolean;
  onFocus(id: string): void;
  onChange(change: (state: TreeState) => TreeState): void;
}

const moreOf = (row: TreeRow) => (state: TreeState) =>
  row.is === "more" ? showMore(state, row.parent, row.side) : showWhole(state, row.id);

const hasMore = (row: TreeRow): boolean => row.is === "more" || (row.is === "value" && !row.isWhole);

const isOpenIn = (row: TreeRow): boolean | undefined => (row.is === "more" ? undefined : row.isOpen);

/** The lines, of which one can be reached by Tab; from there on arrows lead. */
function Lines({ root, rows, label, finder, focused, isFollowing, onFocus, onChange }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  /** A key led to the line in focus: with the mouse it is in sight, and must not move below the pointer. */
  const isLed = useRef(false);
  const index = Math.max(
    0,
    rows.findIndex((it) => it.id === focused),
  );
  const current = rows[index];
  const id = current?.id;
  // A group, or a line for more, stands for all of it.
  const { path, value } = current?.is === "value" ? current : { path: [], value: root };
  useLayoutEffect(() => {
    const line = box.current?.querySelector<HTMLElement>('[tabindex="0"]');
    if (isLed.current) line?.focus();
    if (isLed.current || isFollowing) line?.scrollIntoView({ block: "nearest" });
    isLed.current = false;
  }, [id, isFollowing]);

  const act = useCallback(
    (row: TreeRow) => {
      const isOpen = isOpenIn(row);
      if (hasMore(row)) onChange(moreOf(row));
      else if (isOpen !== undefined) onChange((it) => turn(it, row.id, !isOpen));
    },
    [onChange],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || current === undefined) return;
    const move = stepFor(rows, index, event.key);
    const isAct = event.key === "Enter" || event.key === " ";
    if (move === undefined && !isAct) return;
    event.preventDefault();
    event.stopPropagation();
    isLed.current = true;
    if (isAct) act(current);
    else if (move && "go" in move) onFocus(rows[move.go]?.id ?? "");
    else if (move) onChange((it) => turn(it, move.turn, move.isOpen));
  };

  return (
    <>
      <div class="tree-lines" role="tree" aria-label={label} ref={box} onKeyDown={onKeyDown}>
        {rows.map((row) => (
          <Line
            key={row.id}
            row={row}
            isCurrent={row === current}
            finder={finder}
            onFocus={onFocus}
            onAct={act}
          />
        ))}
      </div>
      <Foot path={path} value={value} />
    </>
  );
}

interface LineProps {
  row: TreeRow;
  isCurrent: boolean;
  finder: RegExp | undefined;
  onFocus(id: string): void;
  onAct(row: TreeRow): void;
}

function Line({ row, isCurrent, finder, onFocus, onAct }: LineProps) {
  const isOpen = isOpenIn(row);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree listens to the keyboard for all its lines
    <div
      role="treeitem"
      class="tree-line"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={isOpen}
      aria-selected={isCurrent}
      tabIndex={isCurrent ? 0 : -1}
      style={{ "--level": row.level - 1 }}
      onFocus={() => onFocus(row.id)}
      onClick={() => isOpen !== undefined && onAct(row)}
    >
      <span class="tree-turn" aria-hidden="true">
        {isOpen === undefined ? "" : isOpen ? "▾" : "▸"}
      </span>
      <RowParts row={row} finder={finder} onMore={() => onAct(row)} />
    </div>
  );
}

/** What can be done with the line in focus. */
function Foot({ path, value }: { path: Path; value: Json }) {
  const place = jsonPath(path);
  const href = typeof value === "string" ? linkOf(value) : undefined;
  return (
    <footer class="tree-foot">
      <code class="cut" title={place.slice(0, 500)}>
        {place.slice(0, 500)}
      </code>
      {typeof value === "string" && <span class="tree-size">{counted(value.length, "character")}</span>}
      {href !== undefined && (
        <a href={href} target="_blank" rel="noopener noreferrer">
          Open link
        </a>
      )}
      <CopyButton kind="quiet" label="Copy value" text={() => valueText(value)} />
      <CopyButton kind="quiet" label="Copy path" text={place} />
    </footer>
  );
}

const valueText = (value: Json): string => (typeof value === "string" ? value : prettyJson(value));
