import { type Signal, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useRef } from "preact/hooks";
import type { EventRow } from "../../../src/model/row.ts";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { hrefTo } from "../../app/route.ts";
import { info } from "../../app/sim.ts";
import { useTotals } from "../../app/totals.ts";
import { type LiveRows, useLiveRows } from "../../feed/use-live-rows.ts";
import { Button, Trouble } from "../../parts/basics.tsx";
import { FilterBox } from "../../parts/filter-box/filter-box.tsx";
import { Split } from "../../parts/split.tsx";
import { AllDropped } from "./all-dropped.tsx";
import { ClearDialog } from "./clear-dialog.tsx";
import { placeOf } from "./cursor.ts";
import { Nothing } from "./empty.tsx";
import { sinceNow } from "./filter-text.ts";
import { EventList, HeldEmpty, Missed, Older } from "./list.tsx";
import { Summary, useSums } from "./summary.tsx";
import { withTotals } from "./tally.ts";
import { useEventKeys } from "./use-event-keys.ts";
import { useKnown } from "./use-known.ts";

/** What is shown beside the list; views do not know each other, so it is handed in (app/views.ts). */
export interface EventSlots {
  /** One event. */
  readonly Details: ComponentType<{ seq: number }>;
  /** How two events differ. */
  readonly Compare: ComponentType<{ first: number; second: number }>;
}

const applyFilter = (text: string): void => go(withParams({ f: text === "" ? undefined : text }), true);

const openEvent = (seq: number, isReplacing: boolean): void =>
  go(hrefTo("events", [seq], route.value.params), isReplacing);

const closeEvent = (): void => go(link("events", [], { f: route.value.params.f }));

/** The live list of events: `#/events?f=…`, `#/events/12`, `#/events/12/compare/15`. */
export function EventsView({ Details, Compare }: EventSlots) {
  const filter = route.value.params.f ?? "";
  const { rows, turn, problem } = useLiveRows<EventRow>({ kind: "events", filter, project: project.value });
  const { seq, other } = placeOf(route.value.path);
  const cursor = useSignal<number | undefined>(seq);
  const marked = useSignal<number | undefined>(undefined);
  const isClearing = useSignal(false);
  useEventKeys({ rows, seq, cursor, marked, open: openEvent, close: closeEvent });
  const askToClear = (isAsked: boolean) => {
    isClearing.value = isAsked;
  };
  if (seq !== undefined && cursor.peek() !== seq) cursor.value = seq;
  return (
    <Split
      label={other === undefined ? "The event" : "Two events compared"}
      onClose={closeEvent}
      details={seq && (other ? <Compare first={seq} second={other} /> : <Details seq={seq} />)}
      list={
        <div class="events">
          <Tools rows={rows} filter={filter} onClear={() => askToClear(true)} />
          {problem && <Trouble problem={problem} />}
          {rows && !problem && (
            <Body key={turn} rows={rows} filter={filter} cursor={cursor} marked={marked} seq={seq} />
          )}
          {isClearing.value && <ClearDialog onClose={() => askToClear(false)} />}
        </div>
      }
    />
  );
}

interface ToolsProps {
  rows: LiveRows<EventRow> | undefined;
  filter: string;
  onClear(): void;
}

function Tools({ rows, filter, onClear }: ToolsProps) {
  const known = useKnown();
  const isPaused = rows?.isPaused.value === true;
  const newest = () => (rows && rows.count() > 0 ? rows.at(0)?.seq : undefined);
  const fromNow = () => {
    const seq = newest();
    if (seq !== undefined) applyFilter(sinceNow(filter, seq));
  };
  return (
    <div class="toolbar">
      <FilterBox
        kind="events"
        label="Filter events"
        placeholder="Filter, e.g. is:dropped event:$pageview prop.amount:>10"
        value={filter}
        onApply={applyFilter}
        known={() => known(rows)}
        problems={rows?.filterProblems.value}
      />
      <Button
        isPressed={isPaused}
        title="Hold the list still; what comes is kept (p)"
        onClick={() => (isPaused ? rows?.resume() : rows?.pause())}
      >
        Pause
      </Button>
      <Button title="Clear the view: show only what comes from now on" onClick={fromNow}>
        From now on
      </Button>
      <Button kind="danger" onClick={onClear}>
        Clear events…
      </Button>
    </div>
  );
}

interface BodyProps {
  rows: LiveRows<EventRow>;
  filter: string;
  seq: number | undefined;
  cursor: Signal<number | undefined>;
  marked: Signal<number | undefined>;
}

function Body({ rows, filter, seq, cursor, marked }: BodyProps) {
  const sums = useSums(rows);
  const totals = useTotals({ project: project.value, events: filter })?.events;
  const tally = withTotals(sums.tally, totals);
  // a list without gaps and an older end needs no other count
  const isWhole = !rows.hasOlder.value && rows.missed.value === 0 && !rows.isLoading.value;
  const isExact = totals?.complete ?? isWhole;
  return (
    <>
      <Summary
        sums={sums}
        tally={tally}
        isExact={isExact}
        isCut={rows.hasOlder.value && sums.seconds.reduce((sum, it) => sum + it, 0) >= rows.count()}
        filter={filter}
        onFilter={applyFilter}
      />
      <Missed rows={rows} />
      {rows.problem.value && <Trouble problem={rows.problem.value} />}
      {filter === "" && isExact && <AllDropped rows={rows} tally={tally} />}
      <Rows {...{ rows, filter, seq, cursor, marked }} />
      <Older rows={rows} />
    </>
  );
}

/** The rows, or why there are none. */
function Rows({ rows, filter, seq, cursor, marked }: BodyProps) {
  const box = useRef<HTMLDivElement>(null);
  void rows.version.value;
  if (rows.count() === 0) {
    if (rows.isPaused.value) return <HeldEmpty rows={rows} />;
    const isSearching = rows.isLoading.value || rows.hasOlder.value;
    return <Nothing filter={filter} isSearching={isSearching} onFilter={applyFilter} />;
  }
  return (
    <EventList
      rows={rows}
      chosen={seq}
      cursor={cursor}
      marked={marked.value}
      hasProjects={project.value === undefined && (info.value?.projects.length ?? 0) > 1}
      box={box}
      onChoose={(it) => openEvent(it, seq !== undefined)}
    />
  );
}
