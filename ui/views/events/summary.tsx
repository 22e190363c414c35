import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import type { EventOutcome } from "../../../src/journal/outcomes.ts";
import { figureText } from "../../app/sim.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { hasTerm, nameTerm, toggled } from "../../parts/filter-box/filter-text.ts";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Sparkline } from "../../parts/sparkline.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { namesIn } from "./address.ts";
import { graphSeconds, perSecond, runningTally, type Tally } from "./tally.ts";

/** Interval of updates, ms. */
const pause = 400;

/** The sim's current time, ms. */
function simNow(): number {
  const report = stat.peek();
  if (!report) return Date.now();
  const { clock, at } = report;
  // the reported time has advanced since
  return clock.frozen ? clock.now : Date.now() + clock.now - at;
}

interface Sums {
  readonly tally: Tally;
  readonly seconds: readonly number[];
}

const noSums: Sums = {
  tally: { total: 0, sorts: { kept: 0, warned: 0, dropped: 0 }, names: [] },
  seconds: new Array<number>(graphSeconds).fill(0),
};

const lastMinute = (rows: LiveRows<EventRow>): number[] =>
  perSecond(rows, Math.max(simNow(), rows.at(0)?.at ?? 0));

/** Sums of the list, updated after changes and while the last minute passes. */
export function useSums(rows: LiveRows<EventRow>): Sums {
  const sums = useSignal<Sums>(noSums);
  useEffect(() => {
    const tally = runningTally();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const add = () => {
      timer = undefined;
      last = performance.now();
      sums.value = { tally: tally(rows), seconds: lastMinute(rows) };
    };
    const stop = rows.version.subscribe(() => {
      const rest = last + pause - performance.now();
      if (rest > 0) timer ??= setTimeout(add, rest);
      else add();
    });
    const moving = setInterval(() => {
      const { seconds } = sums.peek();
      if (!document.hidden && seconds.some((it) => it > 0))
        sums.value = { ...sums.peek(), seconds: lastMinute(rows) };
    }, 1_000);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(moving);
    };
  }, [rows, sums]);
  return sums.value;
}

interface SummaryProps {
  sums: Sums;
  /** Figures; `isExact`: not a lower bound. */
  tally: Tally;
  isExact: boolean;
  /** True if the last minute has more events than are loaded. */
  isCut: boolean;
  filter: string;
  onFilter(text: string): void;
}

interface Chip {
  readonly of: EventOutcome;
  readonly term: string;
  readonly title: string;
}

const chips: readonly Chip[] = [
  { of: "kept", term: "is:kept", title: "Only kept events, with and without warnings" },
  { of: "warned", term: "is:warned", title: "Only events with warnings" },
  { of: "dropped", term: "is:dropped", title: "Only dropped events" },
];

const chipTerms = chips.map((it) => it.term);

/** Summary of the list, with one-click filters. */
export function Summary({ sums: { seconds }, tally, isExact, isCut, filter, onFilter }: SummaryProps) {
  const recent = seconds.reduce((sum, it) => sum + it, 0);
  const atLeast = isCut && recent > 0 ? "at least " : "";
  return (
    <div class="events-summary">
      <Sparkline values={seconds} label={`${atLeast}${counted(recent, "event")} in the last minute`} />
      <span class="muted events-total">
        <b>{figureText(tally.total, isExact)}</b> {tally.total === 1 ? "event" : "events"}
      </span>
      {chips.map(({ of, term, title }) => (
        <Button
          key={of}
          kind="quiet"
          class="events-chip"
          isPressed={hasTerm(filter, term)}
          title={title}
          onClick={() => onFilter(toggled(filter, term, chipTerms))}
        >
          {tally.sorts[of] === 0 && isExact ? (
            <Badge>{`0 ${of}`}</Badge>
          ) : (
            <OutcomeBadge of={of}>{`${numberText(tally.sorts[of])}${isExact ? "" : "+"} ${of}`}</OutcomeBadge>
          )}
        </Button>
      ))}
      <Names tally={tally} isExact={isExact} filter={filter} onFilter={onFilter} />
    </div>
  );
}

function Names({ tally, isExact, filter, onFilter }: Omit<SummaryProps, "sums" | "isCut">) {
  if (tally.names.length < 2 && namesIn(filter).length === 0) return null;
  return (
    <fieldset class="events-names" aria-label="Names">
      {tally.names.map(([name, count]) => (
        <Button
          key={name}
          kind="quiet"
          class="events-chip"
          isPressed={hasTerm(filter, nameTerm(name))}
          title={`Only ${plain(name, 100)}`}
          onClick={() => onFilter(toggled(filter, nameTerm(name), namesIn(filter)))}
        >
          {plain(name, 40)} <span class="faint">{`${numberText(count)}${isExact ? "" : "+"}`}</span>
        </Button>
      ))}
    </fieldset>
  );
}
