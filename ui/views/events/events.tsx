import { type Signal, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import type { KnownValues } from "../../../src/state/journal/filter/types.ts";
import { call, query } from "../../api/call.ts";
import { useLast } from "../../api/resource.ts";
import { late } from "../../app/late-view.tsx";
import { MissedRows, useListKeys } from "../../app/live-list.tsx";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { hrefTo } from "../../app/route.ts";
import { useTotals } from "../../app/sim.ts";
import { type LiveRows, useLiveRows } from "../../feed/live-rows.ts";
import { Button, Trouble } from "../../parts/basics.tsx";
import { FilterBox } from "../../parts/filter-box/filter-box.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Split } from "../../parts/layout.tsx";
import { placeOf, sinceNow } from "./address.ts";
import { choice, wantedProperties } from "./columns.ts";
import { EventList, LoadLimitNotice, PausedList } from "./list.tsx";
import { AllDropped, ClearDialog, EmptyList } from "./notices.tsx";
import { SdkSwitch } from "./sdk-switch.tsx";
import { createSeen, type RowsByIndex } from "./seen.ts";

/** Components beside the list. Views do not import each other, so app/views.ts passes them in. */
interface EventSlots {
  readonly Details: ComponentType<{ seq: number }>;
  readonly Compare: ComponentType<{ first: number; second: number }>;
}

/** Loaded after the list. */
const Histogram = late(async () => (await import("./histogram.tsx")).Histogram);

/** Rarely needed, so loaded late. */
const ColumnsDialog = late(async () => (await import("./columns-dialog.tsx")).ColumnsDialog);

const applyFilter = (text: string): void => go(withParams({ f: text === "" ? undefined : text }), true);

const openEvent = (seq: number, isReplacing: boolean): void =>
  go(hrefTo("events", [seq], route.value.params), isReplacing);

const closeEvent = (): void => go(link("events", [], { f: route.value.params.f }));

export function EventsView({ Details, Compare }: EventSlots) {
  const filter = route.value.params.f ?? "";
  const { rows, turn, problem, columns } = useLiveRows<EventRow>({
    ...{ kind: "events", filter, project: project.value },
    columns: wantedProperties(filter, choice.value),
  });
  const { seq, other } = placeOf(route.value.path);
  const cursor = useSignal<number | undefined>(seq);
  const marked = useSignal<number | undefined>(undefined);
  const [isClearing, setClearing] = useState(false);
  useEventKeys(rows, seq, cursor, marked);
  if (seq !== undefined && cursor.peek() !== seq) cursor.value = seq;
  return (
    <Split
      label={other === undefined ? "The event" : "Two events compared"}
      onClose={closeEvent}
      details={seq && (other ? <Compare first={seq} second={other} /> : <Details seq={seq} />)}
      list={
        <div class="events">
          <Tools rows={rows} filter={filter} onClear={() => setClearing(true)} />
          {problem && <Trouble problem={problem} />}
          {rows && !problem && <Body key={turn} {...{ rows, filter, cursor, marked, seq }} values={columns} />}
          {isClearing && <ClearDialog onClose={() => setClearing(false)} />}
        </div>
      }
    />
  );
}

/** The event's person, by distinct id: unlike the uuid, it stays valid when the person is merged into another. */
const personHref = ({ person, distinct_id, project }: EventRow): string =>
  person === null
    ? link("people", [], { q: distinct_id })
    : link("people", [distinct_id], { in: project ?? undefined });

function useEventKeys(
  rows: LiveRows<EventRow> | undefined,
  seq: number | undefined,
  cursor: Signal<number | undefined>,
  marked: Signal<number | undefined>,
): void {
  const { f } = route.value.params;
  const withRow = (use: (row: EventRow) => void) => () => {
    const row = cursor.value === undefined ? undefined : rows?.at(rows.indexOf(cursor.value));
    if (row) use(row);
  };
  function mark({ seq: second }: EventRow): void {
    const first = marked.value;
    marked.value = first === undefined ? second : undefined;
    if (first !== undefined && first !== second) go(link("events", [first, "compare", second], { f }));
  }
  useListKeys({
    title: "Events",
    noun: "event",
    rows,
    numberOf: (row) => row.seq,
    opened: seq,
    cursor,
    list: ".events-list [role=grid]",
    open: openEvent,
    close: closeEvent,
    more: [
      { keys: "c", does: "Copy as …", run: withRow((it) => go(link("events", [it.seq], { f, tab: "copy" }))) },
      { keys: "d", does: "Mark the event; mark a second one to compare them", run: withRow(mark) },
      { keys: "t", does: "Person of the event", run: withRow((it) => go(personHref(it))) },
    ],
  });
}

interface ToolsProps {
  rows: LiveRows<EventRow> | undefined;
  filter: string;
  onClear(): void;
}

function Tools({ rows, filter, onClear }: ToolsProps) {
  const known = useKnown();
  const [isChoosing, setChoosing] = useState(false);
  const isPaused = rows?.isPaused.value === true;
  const newest = () => (rows && rows.count() > 0 ? rows.at(0)?.seq : undefined);
  const fromNow = () => {
    const seq = newest();
    if (seq !== undefined) applyFilter(sinceNow(filter, seq));
  };
  return (
    <div class="row toolbar">
      <FilterBox
        kind="events"
        label="Filter events"
        placeholder="Filter, e.g. is:dropped event:$pageview prop.amount:>10"
        value={filter}
        onApply={applyFilter}
        known={() => known(rows)}
        problems={rows?.filterProblems.value}
      />
      <SdkSwitch filter={filter} onFilter={applyFilter} />
      <Button
        isPressed={isPaused}
        title="Stop updating the list; new events are kept (p)"
        onClick={() => (isPaused ? rows?.resume() : rows?.pause())}
      >
        <Icon of="pause" />
        <span class="events-label">Pause</span>
      </Button>
      <Button title="Columns of the list" onClick={() => setChoosing(true)}>
        <Icon of="columns" />
        <span class="events-label">Columns</span>
      </Button>
      <Button title="Show only events from now on" onClick={fromNow}>
        <Icon of="clock" />
        <span class="events-label">From now on</span>
      </Button>
      <Button kind="danger" title="Clear events…" onClick={onClear}>
        <Icon of="clear" />
        <span class="events-label">Clear events…</span>
      </Button>
      {isChoosing && <ColumnsDialog properties={known(rows).properties} onClose={() => setChoosing(false)} />}
    </div>
  );
}

interface BodyProps {
  rows: LiveRows<EventRow>;
  filter: string;
  seq: number | undefined;
  cursor: Signal<number | undefined>;
  marked: Signal<number | undefined>;
  /** Properties that the rows have values of. */
  values: readonly string[];
}

function Body(props: BodyProps) {
  const { rows, filter } = props;
  const totals = useLast(useTotals({ project: project.value, events: filter })?.events);
  const all = useLast(useTotals({ project: project.value, events: "" })?.events);
  return (
    <>
      <Histogram {...{ filter, totals, all }} onFilter={applyFilter} />
      <MissedRows rows={rows} class="row row-wide events-notice" />
      {rows.problem.value && <Trouble problem={rows.problem.value} />}
      {filter === "" && totals?.complete && <AllDropped rows={rows} totals={totals} />}
      <Rows {...props} />
      <LoadLimitNotice rows={rows} />
    </>
  );
}

function Rows({ rows, filter, seq, cursor, marked, values }: BodyProps) {
  const box = useRef<HTMLDivElement>(null);
  void rows.version.value;
  if (rows.count() === 0) {
    if (rows.isPaused.value) return <PausedList rows={rows} />;
    const isSearching = rows.isLoading.value || rows.hasOlder.value;
    return <EmptyList filter={filter} isSearching={isSearching} onFilter={applyFilter} />;
  }
  return (
    <EventList
      {...{ rows, values, filter }}
      chosen={seq}
      cursor={cursor}
      marked={marked.value}
      box={box}
      onChoose={(it) => openEvent(it, seq !== undefined)}
    />
  );
}

/** Property names are read from this many events, and again after `stale` ms. */
const latest = 100;
const stale = 15_000;

interface EventsPage {
  readonly events: readonly { readonly properties: Readonly<Record<string, unknown>> }[];
}

/** Seen values while the view is mounted. Property names are loaded while typing. */
function useKnown(): (rows: RowsByIndex | undefined) => KnownValues {
  return useMemo(() => {
    const seen = createSeen();
    let asked = Number.NEGATIVE_INFINITY;
    const ask = async () => {
      const path = `events${query({ limit: latest, order: "desc", project: project.peek() })}`;
      const page = await call<EventsPage>("GET", path);
      for (const { properties } of page.events) seen.addProperties(Object.keys(properties));
    };
    return (rows) => {
      if (performance.now() - asked > stale) {
        asked = performance.now();
        // on failure there are fewer completions
        void ask().catch(() => undefined);
      }
      if (rows) seen.look(rows);
      return seen.known();
    };
  }, []);
}
