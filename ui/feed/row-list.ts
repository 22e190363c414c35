/** Rows that were not brought: they lie between two that are held. */
export interface Gap {
  /** The requests that are missing, as far as is known. */
  readonly from: number;
  readonly to: number;
  /** Number of the row right below it; 0: there is none. */
  readonly below: number;
  /** Number of the row right above it; null: none has come since. */
  readonly before: number | null;
}

/** Part of a history, newest first. */
export interface HistoryPage<Row> {
  readonly rows: readonly Row[];
  readonly more: boolean;
  readonly before: number | null;
}

/** How many rows are held. */
export interface Limits {
  /** As they come. */
  readonly held: number;
  /** Where somebody reads further and further back. */
  readonly read: number;
}

/** What a list knows of its rows. */
export interface RowKind<Row> {
  /** Its own number, which grows by arrival. */
  number(row: Row): number;
  /** The request that it came with. */
  request(row: Row): number;
}

/**
 * The rows of a live list, without any way of drawing or fetching them. The newest is at index 0. Rows are known by
 * their numbers: the same one twice is one. While paused, new rows wait unseen.
 */
export interface RowList<Row> {
  /** How many are shown. */
  count(): number;
  at(index: number): Row | undefined;
  /** Where the row with this number is shown; -1: nowhere. */
  indexOf(number: number): number;
  /** How many wait for the end of the pause. */
  unread(): number;
  /** How many were ever added above what was shown. */
  added(): number;
  gaps(): readonly Gap[];
  /** Is there more below the last row, and what is it asked for with? */
  more(): boolean;
  before(): number | null;
  /** As many as are held at all: nothing more can be read below. */
  isFull(): boolean;
  isPaused(): boolean;
  pause(): void;
  resume(): void;
  /** All of it anew. */
  replace(page: HistoryPage<Row>): void;
  /** New rows, oldest first. */
  append(rows: readonly Row[]): void;
  /** Requests that did not come. */
  miss(from: number, to: number): void;
  /** What lies below, asked for with `asked`; of no use where that changed meanwhile. */
  extend(page: HistoryPage<Row>, asked: number | null): void;
  /** What lies in a gap, asked for from its upper end on. Returns what is left of it. */
  fill(gap: Gap, page: HistoryPage<Row>): Gap | undefined;
}

/** More than this share above the limit, rows are let go: not one by one. */
const slack = 1.1;

interface State<Row> {
  /** Oldest first; what is shown ends before `shown`. */
  rows: Row[];
  shown: number;
  added: number;
  gaps: readonly Gap[];
  more: boolean;
  before: number | null;
  isPaused: boolean;
  /** How many rows may be held, as somebody read back so far. */
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

/** Lets the oldest go where there are too many. */
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

/** Lets the oldest go of what waits: what is looked at stays. They can be read from the history later. */
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

/** A gap at the upper end has one when something comes. */
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
  // in the pause, what lies above the last one shown waits with the rest
  if (at < state.shown || !state.isPaused) {
    state.shown += inside.length;
    state.added += inside.length;
  }
  const rest = left(known, page, inside.at(-1), kind);
  state.gaps = state.gaps.flatMap((it) => (it !== known ? [it] : rest ? [rest] : []));
  return rest;
}

/** What a page leaves of a gap: nothing where it reached its lower end. */
function left<Row>(
  gap: Gap,
  { more, before }: HistoryPage<Row>,
  last: Row | undefined,
  kind: RowKind<Row>,
): Gap | undefined {
  if (!more || before === null || before <= gap.below + 1) return undefined;
  return { ...gap, to: last === undefined ? gap.to : Math.max(gap.from, kind.request(last)), before };
}

/** A list without rows. */
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
