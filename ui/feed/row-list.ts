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

/** Rows are dropped in batches: only beyond this multiple of the limit. */
const slack = 1.1;

/**
 * The rows of a live list. Index 0 is the newest. A row with a known number is ignored. While paused, new rows are
 * kept but not visible.
 */
export class RowList<Row> {
  readonly #kind: RowKind<Row>;
  readonly #limits: Limits;
  /** Oldest first; the visible ones end before `#shown`. */
  #rows: Row[] = [];
  #shown = 0;
  #added = 0;
  #gaps: readonly Gap[] = [];
  #more = false;
  #before: number | null = null;
  #isPaused = false;
  /** Number of rows that may be kept; grows with loaded history. */
  #room: number;

  constructor(kind: RowKind<Row>, limits: Limits) {
    this.#kind = kind;
    this.#limits = limits;
    this.#room = limits.held;
  }

  /** Number of visible rows. */
  count = (): number => this.#shown;
  at = (index: number): Row | undefined => this.#rows[this.#shown - 1 - index];
  /** Rows that arrived while paused. */
  unread = (): number => this.#rows.length - this.#shown;
  /** Rows ever added at the top. */
  added = (): number => this.#added;
  gaps = (): readonly Gap[] => this.#gaps;
  /** True if older rows exist; `before()` is the cursor for loading them. */
  more = (): boolean => this.#more;
  before = (): number | null => this.#before;
  /** True if no more rows can be loaded. */
  isFull = (): boolean => this.#rows.length >= this.#limits.read;

  /** Index of the row with this number; -1: not visible. */
  indexOf = (number: number): number => {
    const place = this.#place(number);
    return place < this.#shown && this.#numberAt(place) === number ? this.#shown - 1 - place : -1;
  };

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#show();
  }

  /** Replaces all rows. */
  replace({ rows, more, before }: HistoryPage<Row>): void {
    this.#rows = rows.toReversed();
    this.#shown = rows.length;
    this.#more = more;
    this.#before = before;
    this.#gaps = [];
    this.#room = this.#limits.held;
  }

  append(rows: readonly Row[]): void {
    const newest = this.#numberAt(this.#rows.length - 1);
    const fresh = rows.filter((row) => this.#kind.number(row) > newest);
    const [first] = fresh;
    if (first === undefined) return;
    // a gap at the upper end is closed
    const before = this.#kind.number(first);
    if (this.#gaps.some((it) => it.before === null))
      this.#gaps = this.#gaps.map((it) => (it.before === null ? { ...it, before } : it));
    for (const row of fresh) this.#rows.push(row);
    if (this.#isPaused) this.#trimUnread();
    else this.#show();
  }

  /** Marks skipped requests as a gap. */
  miss(from: number, to: number): void {
    const open = this.#gaps.find((it) => it.before === null);
    const others = this.#gaps.filter((it) => it !== open);
    const below = open?.below ?? this.#numberAt(this.#rows.length - 1);
    this.#gaps = [...others, { from: open?.from ?? from, to, below, before: null }];
  }

  /** Adds older rows that were requested with cursor `asked`; ignored if it changed since. */
  extend(page: HistoryPage<Row>, asked: number | null): void {
    if (asked !== this.#before) return;
    this.#rows = [...page.rows.toReversed(), ...this.#rows];
    this.#shown += page.rows.length;
    this.#before = page.before;
    this.#more = page.more;
    const { held, read } = this.#limits;
    this.#room = Math.max(held, Math.min(read, this.#rows.length));
  }

  /** Adds rows of a gap, from its upper end. Returns the remaining gap. */
  fill(gap: Gap, { rows, more, before }: HistoryPage<Row>): Gap | undefined {
    const known = this.#gaps.find((it) => it.below === gap.below && it.from === gap.from);
    if (!known) return undefined;
    const top = known.before ?? Number.POSITIVE_INFINITY;
    const inside = rows.filter((row) => this.#kind.number(row) > known.below && this.#kind.number(row) < top);
    const place = known.before === null ? this.#rows.length : this.#place(known.before);
    this.#rows = [...this.#rows.slice(0, place), ...inside.toReversed(), ...this.#rows.slice(place)];
    // while paused, rows above the visible ones stay unread
    if (place < this.#shown || !this.#isPaused) {
      this.#shown += inside.length;
      this.#added += inside.length;
    }
    const last = inside.at(-1);
    const to = last === undefined ? known.to : Math.max(known.from, this.#kind.request(last));
    const isDone = !more || before === null || before <= known.below + 1;
    const rest = isDone ? undefined : { ...known, to, before };
    this.#gaps = this.#gaps.flatMap((it) => (it !== known ? [it] : rest ? [rest] : []));
    return rest;
  }

  /** Number of the row at a place in `#rows`; 0 if there is none. */
  #numberAt(place: number): number {
    const row = this.#rows[place];
    return row === undefined ? 0 : this.#kind.number(row);
  }

  /** Place of the first row with a number of at least this. */
  #place(number: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#numberAt(middle) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Makes all rows visible, and drops the oldest beyond the limit. */
  #show(): void {
    this.#added += this.unread();
    this.#shown = this.#rows.length;
    const cut = this.#rows.length - this.#room;
    if (this.#rows.length <= this.#room * slack || cut <= 0) return;
    this.#rows = this.#rows.slice(cut);
    this.#shown -= cut;
    this.#before = this.#rows.length === 0 ? null : this.#numberAt(0);
    this.#more = true;
    const lowest = this.#before ?? 0;
    this.#gaps = this.#gaps.filter((it) => it.below >= lowest);
  }

  /** Drops the oldest unread rows; visible ones stay. The dropped ones can be loaded as a gap. */
  #trimUnread(): void {
    const { held } = this.#limits;
    const cut = this.unread() - held;
    if (cut <= held * (slack - 1)) return;
    const gone = this.#rows.splice(this.#shown, cut);
    const [first, last] = [gone[0], gone.at(-1)];
    if (first === undefined || last === undefined) return;
    const below = this.#numberAt(this.#shown - 1);
    const before = this.#numberAt(this.#shown);
    const inside = this.#gaps.filter((it) => it.below >= below && (it.before ?? Number.POSITIVE_INFINITY) <= before);
    const from = Math.min(this.#kind.request(first), ...inside.map((it) => it.from));
    const gap: Gap = { from, to: this.#kind.request(last), below, before };
    this.#gaps = [...this.#gaps.filter((it) => !inside.includes(it)), gap];
  }
}
