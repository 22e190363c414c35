import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Json, Path } from "../../../src/kernel/base/json.ts";
import { prettyJson } from "../../copy/quote.ts";
import { Button, CopyButton } from "../basics.tsx";
import { counted, numberText, sizeText } from "../text.ts";
import {
  type Found,
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
import type { Groups } from "./property-groups.ts";
import { finderOf, linkOf } from "./safe-text.ts";
import { RowParts } from "./tree-row.tsx";

interface TreeProps {
  /** Any JSON. */
  value: Json;
  label?: string;
  search?: boolean;
  groups?: Groups;
  /** Initially expanded levels, from 1. */
  open?: number;
}

/**
 * A tree of JSON with search and copy. Large values are truncated: strings to 4,096 characters, nodes to 100
 * children.
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
        <TreeSearch text={text} found={found} current={hit} onText={look} onGo={goTo} size={sizeOfJson(value)} />
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

/** Size of the value as JSON, cached. */
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
  /** Scrolls to the selected row even without keyboard focus. */
  isFollowing: boolean;
  onFocus(id: string): void;
  onChange(change: (state: TreeState) => TreeState): void;
}

const moreOf = (row: TreeRow) => (state: TreeState) =>
  row.is === "more" ? showMore(state, row.parent, row.side) : showWhole(state, row.id);

const hasMore = (row: TreeRow): boolean => row.is === "more" || (row.is === "value" && !row.isWhole);

const isOpenIn = (row: TreeRow): boolean | undefined => (row.is === "more" ? undefined : row.isOpen);

const turnMark = (isOpen: boolean | undefined): string => (isOpen === undefined ? "" : isOpen ? "▾" : "▸");

/** The rows. Tab reaches one of them, arrows move between them. */
function Lines({ root, rows, label, finder, focused, isFollowing, onFocus, onChange }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  /** True if a key moved the focus: after a click the row must not scroll under the pointer. */
  const isLed = useRef(false);
  const index = Math.max(
    0,
    rows.findIndex((it) => it.id === focused),
  );
  const current = rows[index];
  const id = current?.id;
  // groups and "show more" rows stand for the root
  const { path, value } = current?.is === "value" ? current : { path: [], value: root };
  useLayoutEffect(() => {
    const line = box.current?.querySelector<HTMLElement>('[tabindex="0"]');
    if (isLed.current) line?.focus();
    if (isLed.current || isFollowing) line?.scrollIntoView({ block: "nearest" });
    isLed.current = false;
  }, [id, isFollowing]);

  const act = (row: TreeRow) => {
    const isOpen = isOpenIn(row);
    if (hasMore(row)) onChange(moreOf(row));
    else if (isOpen !== undefined) onChange((it) => turn(it, row.id, !isOpen));
  };

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
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree listens to the keyboard for all its lines
          <div
            key={row.id}
            role="treeitem"
            class="tree-line"
            aria-level={row.level}
            aria-posinset={row.position}
            aria-setsize={row.siblings}
            aria-expanded={isOpenIn(row)}
            aria-selected={row === current}
            tabIndex={row === current ? 0 : -1}
            style={{ "--level": row.level - 1 }}
            onFocus={() => onFocus(row.id)}
            onClick={() => isOpenIn(row) !== undefined && act(row)}
          >
            <span class="tree-turn" aria-hidden="true">
              {turnMark(isOpenIn(row))}
            </span>
            <RowParts row={row} finder={finder} onMore={() => act(row)} />
          </div>
        ))}
      </div>
      <Foot path={path} value={value} />
    </>
  );
}

function Foot({ path, value }: { path: Path; value: Json }) {
  const place = jsonPath(path);
  const href = typeof value === "string" ? linkOf(value) : undefined;
  return (
    <footer class="row small tree-foot">
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

interface SearchProps {
  text: string;
  found: Found;
  /** Index of the current hit. */
  current: number;
  /** Size of the whole value. */
  size: string;
  onText(text: string): void;
  onGo(index: number): void;
}

function countText({ text, found, current }: SearchProps): string {
  const { length } = found.hits;
  if (text.trim() === "") return "";
  if (length === 0) return "nothing found";
  return `${numberText(current + 1)} of ${numberText(length)}${found.isCut ? "+" : ""}`;
}

/** Search box of a tree; Enter goes to the next hit, Shift+Enter to the previous one. */
function TreeSearch(props: SearchProps) {
  const { text, found, current, size, onText, onGo } = props;
  const { length } = found.hits;
  const step = (by: number) => length > 0 && onGo((current + by + length) % length);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && text !== "") {
      event.stopPropagation();
      onText("");
    }
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  };
  return (
    <search class="row tree-search">
      <input
        class="input"
        type="search"
        value={text}
        placeholder="Search keys and values"
        aria-label="Search keys and values"
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="tree-size" role="status">
        {countText(props)}
      </span>
      {length > 1 && (
        <span class="tree-steps">
          <Button kind="quiet" aria-label="Previous hit" onClick={() => step(-1)}>
            ↑
          </Button>
          <Button kind="quiet" aria-label="Next hit" onClick={() => step(1)}>
            ↓
          </Button>
        </span>
      )}
      <span class="tree-size end">{size}</span>
    </search>
  );
}
