/** Rows that the feed skipped, between two loaded ones. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** Number of the row below; 0: none. */
  readonly below: number;
  /** Number of the row above; null: none yet. */
  readonly before: number | null;
}

/** Part of a history, newest first. */
export interface HistoryPage<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
  readonly before: number | null;
}

/** Maximum numbers of loaded rows. */
export interface Limits {
  /** While following. */
  readonly held: number;
  /** While loading older rows. */
  readonly read: number;
}

export interface RowKind<Row> {
  /** Number of the row; increases with arrival. */
  number(row: Row): number;
  /** Number of its request. */
  request(row: Row): number;
}

/**
 * The rows of a live list. Index 0 is the newest. A row with a known number is ignored. While paused, new rows are
 * kept but not visible.
 */
export interface RowList<Row> {
  count(): number;
  at(index: number): Row | undefined;
  /** Index of the row with this number; -1: not visible. */
  indexOf(number: number): number;
  /** Rows that arrived while paused. */
  unread(): number;
  /** Rows ever added at the top. */
  added(): number;
  gaps(): readonly Gap[];
  /** True if older rows exist; `before()` is the cursor for loading them. */
  more(): boolean;
  before(): number | null;
  /** True if no more rows can be loaded. */
  isFull(): boolean;
  isPaused(): boolean;
  pause(): void;
  resume(): void;
  /** Replaces all rows. */
  replace(page: HistoryPage<Row>): void;
  append(rows: readonly Row[]): void;
  /** Marks skipped requests as a gap. */
  miss(from: number, to: number): void;
  /** Adds older rows that were requested with cursor `asked`; ignored if it changed since. */
  extend(page: HistoryPage<Row>, asked: number | null): void;
  /** Adds rows of a gap, from its upper end. Returns the remaining gap. */
  fill(gap: Gap, page: HistoryPage<Row>): Gap | undefined;
}

/** Rows are dropped in batches: only beyond this multiple of the limit. */
const slack = 1.1;

interface State<Row> {
  /** Oldest first; the visible ones end before `shown`. */
  rows: Row[];
  shown: number;
  added: number;
  gaps: readonly Gap[];
  more: boolean;
  before: number | null;
  isPaused: boolean;
  /** Number of rows that may be kept; grows with loaded history. */
  room: number;
}

/** Index of the first row with a number of at least this. */
function place<Row>(rows: readonly Row[], number: number, { number: of }: RowKind<Row>): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && of(row) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function show<Row>(state: State<Row>): void {
  state.added += state.rows.length - state.shown;
  state.shown = state.rows.length;
}

/** Drops the oldest rows beyond the limit. */
function trim<Row>(state: State<Row>, kind: RowKind<Row>): void {
  const cut = Math.min(state.rows.length - state.room, state.shown);
  if (state.rows.length <= state.room * slack || cut <= 0) return;
  state.rows = state.rows.slice(cut);
  state.shown -= cut;
  const [oldest] = state.rows;
  state.before = oldest === undefined ? null : kind.number(oldest);
  state.more = true;
  const lowest = state.before ?? 0;
  state.gaps = state.gaps.filter((it) => it.below >= lowest);
}

/** Drops the oldest unread rows; visible ones stay. The dropped ones can be loaded as a gap. */
function trimUnread<Row>(state: State<Row>, kind: RowKind<Row>, held: number): void {
  const cut = state.rows.length - state.shown - held;
  if (cut <= held * (slack - 1)) return;
  const gone = state.rows.splice(state.shown, cut);
  const [first, last, above] = [gone[0], gone.at(-1), state.rows[state.shown]];
  if (first === undefined || last === undefined || above === undefined) return;
  const below = numberBelow(state, state.shown, kind);
  const before = kind.number(above);
  const inside = state.gaps.filter((it) => it.below >= below && (it.before ?? Infinity) <= before);
  const from = Math.min(kind.request(first), ...inside.map((it) => it.from));
  const gap: Gap = { from, to: kind.request(last), below, before };
  state.gaps = [...state.gaps.filter((it) => !inside.includes(it)), gap];
}

function numberBelow<Row>({ rows }: State<Row>, index: number, kind: RowKind<Row>): number {
  const row = rows[index - 1];
  return row === undefined ? 0 : kind.number(row);
}

/** Closes a gap at the upper end when a row arrives. */
const closed = (gaps: readonly Gap[], before: number): readonly Gap[] =>
  gaps.some((it) => it.before === null)
    ? gaps.map((it) => (it.before === null ? { ...it, before } : it))
    : gaps;

function append<Row>(state: State<Row>, more: readonly Row[], kind: RowKind<Row>, { held }: Limits): void {
  const newest = numberBelow(state, state.rows.length, kind);
  const fresh = more.filter((row) => kind.number(row) > newest);
  const [first] = fresh;
  if (first === undefined) return;
  state.gaps = closed(state.gaps, kind.number(first));
  for (const row of fresh) state.rows.push(row);
  if (state.isPaused) trimUnread(state, kind, held);
  else {
    show(state);
    trim(state, kind);
  }
}

function miss<Row>(state: State<Row>, from: number, to: number, kind: RowKind<Row>): void {
  const open = state.gaps.find((it) => it.before === null);
  const others = state.gaps.filter((it) => it !== open);
  const below = open?.below ?? numberBelow(state, state.rows.length, kind);
  state.gaps = [...others, { from: open?.from ?? from, to, below, before: null }];
}

function extend<Row>(state: State<Row>, page: HistoryPage<Row>, { read, held }: Limits): void {
  state.rows = [...page.rows.toReversed(), ...state.rows];
  state.shown += page.rows.length;
  state.before = page.before;
  state.more = page.more;
  state.room = Math.max(held, Math.min(read, state.rows.length));
}

function fill<Row>(state: State<Row>, gap: Gap, page: HistoryPage<Row>, kind: RowKind<Row>): Gap | undefined {
  const known = state.gaps.find((it) => it.below === gap.below && it.from === gap.from);
  if (!known) return undefined;
  const top = known.before ?? Infinity;
  const inside = page.rows.filter((row) => kind.number(row) > known.below && kind.number(row) < top);
  const at = known.before === null ? state.rows.length : place(state.rows, known.before, kind);
  state.rows = [...state.rows.slice(0, at), ...inside.toReversed(), ...state.rows.slice(at)];
  // while paused, rows above the visible ones stay unread
  if (at < state.shown || !state.isPaused) {
    state.shown += inside.length;
    state.added += inside.length;
  }
  const rest = left(known, page, inside.at(-1), kind);
  state.gaps = state.gaps.flatMap((it) => (it !== known ? [it] : rest ? [rest] : []));
  return rest;
}

/** The rest of a gap after a page; undefined if it is complete. */
function left<Row>(
  gap: Gap,
  { more, before }: HistoryPage<Row>,
  last: Row | undefined,
  kind: RowKind<Row>,
): Gap | undefined {
  if (!more || before === null || before <= gap.below + 1) return undefined;
  return { ...gap, to: last === undefined ? gap.to : Math.max(gap.from, kind.request(last)), before };
}

export function rowList<Row>(kind: RowKind<Row>, limits: Limits): RowList<Row> {
  const state: State<Row> = {
    rows: [],
    shown: 0,
    added: 0,
    gaps: [],
    more: false,
    before: null,
    isPaused: false,
    room: limits.held,
  };
  return {
    count: () => state.shown,
    at: (index) => state.rows[state.shown - 1 - index],
    indexOf(number) {
      const at = place(state.rows, number, kind);
      const row = state.rows[at];
      return row !== undefined && at < state.shown && kind.number(row) === number ? state.shown - 1 - at : -1;
    },
    unread: () => state.rows.length - state.shown,
    added: () => state.added,
    gaps: () => state.gaps,
    more: () => state.more,
    before: () => state.before,
    isFull: () => state.rows.length >= limits.read,
    isPaused: () => state.isPaused,
    pause() {
      state.isPaused = true;
    },
    resume() {
      state.isPaused = false;
      show(state);
      trim(state, kind);
    },
    replace({ rows, more, before }) {
      Object.assign(state, { rows: rows.toReversed(), shown: rows.length, more, before });
      Object.assign(state, { gaps: [], room: limits.held });
    },
    append: (more) => append(state, more, kind, limits),
    miss: (from, to) => miss(state, from, to, kind),
    extend(page, asked) {
      if (asked === state.before) extend(state, page, limits);
    },
    fill: (gap, page) => fill(state, gap, page, kind),
  };
}
