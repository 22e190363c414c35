import type { GenerationCalendar } from "./calendar.ts";

/** Counts of one event, or of all; the lists are by `days` and `weeks` of the figures. */
interface EventFigures {
  total: number;
  users: number;
  by_day: number[];
  users_by_day: number[];
  users_by_week: number[];
}

/** The users of a week, and how many of them came in each week from that one on. */
interface RetentionRow {
  /** First day of the week. */
  week: string;
  /** The first number is the size of the row. */
  counts: number[];
}

/** Users by what they did in a period and the one before it. */
interface LifecycleFigures {
  new: number[];
  returning: number[];
  resurrecting: number[];
  /** Users of the period before who are absent. */
  dormant: number[];
}

/** What traffic contains, as its generator counted it: no query computes it. */
export interface TrafficFigures {
  persona: string;
  seed: number;
  time_zone: string;
  /** First day of a week: 0 Sunday, 1 Monday. */
  week_start: 0 | 1;
  /** Beginning and end in ISO 8601. */
  from: string;
  until: string;
  /** Calendar days of the time zone. */
  days: string[];
  /** First days of the weeks. */
  weeks: string[];
  events: EventFigures;
  by_event: Record<string, EventFigures>;
  funnel: {
    steps: string[];
    /** Longest time from the first to the last step, ms. */
    window_ms: number;
    /** Users who reach each step in order. */
    counts: number[];
  };
  retention: {
    event: string;
    /** By the week of a user's first event. */
    first_time: RetentionRow[];
    /** By each week of a user. */
    recurring: RetentionRow[];
  };
  lifecycle: { event: string; by_day: LifecycleFigures; by_week: LifecycleFigures };
  revenue: { event: string; property: string; total: number; by_day: number[] } | null;
}

/** What the figures know of a user: places of the last counted day and week by event, and the progress in the funnel. */
export interface UserTally {
  /** By event, and the last one for all: day, week; -1 before the first. */
  readonly last: Int32Array;
  /** When the latest attempt that reached a step began; NaN before the first. */
  readonly begun: Float64Array;
  reached: number;
  /** Weeks with the event of retention. */
  readonly weeks: number[];
}

interface FigureTerms {
  readonly names: readonly string[];
  readonly funnel: { readonly steps: readonly string[]; readonly windowMs: number };
  readonly retained: string;
  readonly revenue: { readonly event: string; readonly property: string } | null;
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);

const blankEvents = ({ days, weeks }: GenerationCalendar): EventFigures => ({
  total: 0,
  users: 0,
  by_day: zeros(days.length),
  users_by_day: zeros(days.length),
  users_by_week: zeros(weeks.length),
});

/** Counts for lifecycles: the rest follows from them. */
interface Returns {
  readonly new: number[];
  readonly returning: number[];
}

/** A sum of numbers with up to six decimals, without the error of binary fractions. */
const rounded = (sum: number): number => Math.round(sum * 1e6) / 1e6;

function bump(counts: number[], index: number, by = 1): void {
  counts[index] = (counts[index] ?? 0) + by;
}

/** Counts events one at a time; its memory does not depend on their number. */
export class FigureCounter {
  readonly #calendar: GenerationCalendar;
  readonly #terms: FigureTerms;
  readonly #indexes: ReadonlyMap<string, number>;
  /** By event, and the last one for all. */
  readonly #events: readonly EventFigures[];
  readonly #funnel: number[];
  /** Steps of the funnel with each event, the last first: one event is not two steps. */
  readonly #stepsOf: ReadonlyMap<string, readonly number[]>;
  readonly #firstTime: number[][];
  readonly #recurring: number[][];
  readonly #days: Returns;
  readonly #weeks: Returns;
  readonly #revenueByDay: number[];

  constructor(calendar: GenerationCalendar, terms: FigureTerms) {
    const { names, funnel } = terms;
    this.#calendar = calendar;
    this.#terms = terms;
    this.#indexes = new Map(names.map((name, i) => [name, i]));
    this.#events = [...names, null].map(() => blankEvents(calendar));
    this.#funnel = zeros(funnel.steps.length);
    this.#stepsOf = new Map(
      names.map((name) => [name, funnel.steps.flatMap((it, i) => (it === name ? [i] : [])).reverse()]),
    );
    const triangle = () => calendar.weeks.map((_, i) => zeros(calendar.weeks.length - i));
    this.#firstTime = triangle();
    this.#recurring = triangle();
    const returns = (of: readonly string[]): Returns => ({ new: zeros(of.length), returning: zeros(of.length) });
    this.#days = returns(calendar.days);
    this.#weeks = returns(calendar.weeks);
    this.#revenueByDay = zeros(calendar.days.length);
  }

  newUser(): UserTally {
    return {
      last: new Int32Array(2 * this.#events.length).fill(-1),
      begun: new Float64Array(this.#funnel.length).fill(Number.NaN),
      reached: 0,
      weeks: [],
    };
  }

  /** Counts an event; those of a user come in order. @param revenue The number of its property, if it has one */
  add(user: UserTally, name: string, time: number, revenue: unknown): void {
    const day = this.#calendar.dayOf(time);
    const week = this.#calendar.weekOf(day);
    const index = this.#indexes.get(name) ?? 0;
    if (name === this.#terms.retained) this.#addRetained(user, index, day, week);
    this.#addTo(index, user, day, week);
    this.#addTo(this.#events.length - 1, user, day, week);
    this.#addStep(user, name, time);
    if (typeof revenue === "number") bump(this.#revenueByDay, day, revenue);
  }

  #addTo(index: number, { last }: UserTally, day: number, week: number): void {
    const figures = this.#events[index];
    if (!figures) return;
    figures.total++;
    bump(figures.by_day, day);
    const lastDay = last[2 * index] ?? -1;
    if (lastDay === -1) figures.users++;
    if (lastDay !== day) bump(figures.users_by_day, day);
    if (last[2 * index + 1] !== week) bump(figures.users_by_week, week);
    last[2 * index] = day;
    last[2 * index + 1] = week;
  }

  #addRetained({ last, weeks }: UserTally, index: number, day: number, week: number): void {
    const [lastDay = -1, lastWeek = -1] = [last[2 * index], last[2 * index + 1]];
    if (lastDay === -1) {
      bump(this.#days.new, day);
      bump(this.#weeks.new, week);
    } else {
      if (lastDay === day - 1) bump(this.#days.returning, day);
      if (lastWeek === week - 1) bump(this.#weeks.returning, week);
    }
    if (lastWeek === week) return;
    weeks.push(week);
    const [first = week] = weeks;
    bump(this.#firstTime[first] ?? [], week - first);
    for (const earlier of weeks) bump(this.#recurring[earlier] ?? [], week - earlier);
  }

  #addStep(user: UserTally, name: string, time: number): void {
    const { begun } = user;
    for (const step of this.#stepsOf.get(name) ?? []) {
      const start = step === 0 ? time : (begun[step - 1] ?? Number.NaN);
      if (!(time - start <= this.#terms.funnel.windowMs)) continue;
      begun[step] = start;
      if (step < user.reached) continue;
      user.reached = step + 1;
      bump(this.#funnel, step);
    }
  }

  #retention(rows: readonly (readonly number[])[]): RetentionRow[] {
    return this.#calendar.weeks.map((week, i) => ({ week, counts: [...(rows[i] ?? [])] }));
  }

  #lifecycle(counts: Returns, users: readonly number[]): LifecycleFigures {
    const { new: fresh, returning } = counts;
    const of = (count: (i: number) => number) => users.map((_, i) => count(i));
    return {
      new: [...fresh],
      returning: [...returning],
      resurrecting: of((i) => (users[i] ?? 0) - (fresh[i] ?? 0) - (returning[i] ?? 0)),
      dormant: of((i) => (users[i - 1] ?? 0) - (returning[i] ?? 0)),
    };
  }

  figures(): Pick<
    TrafficFigures,
    "days" | "weeks" | "events" | "by_event" | "funnel" | "retention" | "lifecycle" | "revenue"
  > {
    const { names, funnel, retained, revenue } = this.#terms;
    const of = (index: number) => this.#events[index] ?? blankEvents(this.#calendar);
    const kept = of(this.#indexes.get(retained) ?? -1);
    return structuredClone({
      days: [...this.#calendar.days],
      weeks: [...this.#calendar.weeks],
      events: of(names.length),
      by_event: Object.fromEntries(names.map((name, i) => [name, of(i)])),
      funnel: { steps: [...funnel.steps], window_ms: funnel.windowMs, counts: this.#funnel },
      retention: {
        event: retained,
        first_time: this.#retention(this.#firstTime),
        recurring: this.#retention(this.#recurring),
      },
      lifecycle: {
        event: retained,
        by_day: this.#lifecycle(this.#days, kept.users_by_day),
        by_week: this.#lifecycle(this.#weeks, kept.users_by_week),
      },
      revenue: revenue && {
        ...revenue,
        total: rounded(this.#revenueByDay.reduce((sum, it) => sum + it, 0)),
        by_day: this.#revenueByDay.map(rounded),
      },
    });
  }
}
