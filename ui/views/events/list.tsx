import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { eventKind } from "../../../src/state/journal/event-kinds.ts";
import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import { outcomeOf } from "../../../src/state/journal/outcomes.ts";
import { link } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { Badge, Button, Empty, Time } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useWidth } from "../../parts/layout.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { counted, numberText, plain, shortId, spanText, withoutTicks } from "../../parts/text.ts";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import {
  type Column,
  type ColumnLayout,
  choice,
  isProperty,
  layoutFor,
  propertiesIn,
  propertyOf,
  resizeColumn,
} from "./columns.ts";
import { codesOf, explanationOf, lagText, sentenceOf } from "./outcome.ts";
import { type Item, type Run, Runs } from "./runs.ts";

interface ListProps {
  rows: LiveRows<EventRow>;
  /** Properties that the rows have values of. */
  values: readonly string[];
  filter: string;
  chosen: number | undefined;
  cursor: Signal<number | undefined>;
  marked: number | undefined;
  box: RefObject<HTMLDivElement>;
  onChoose(seq: number): void;
}

const seqOf = (item: Item): number => ("row" in item ? item.row.seq : item.run.top);

/** The list, with dividers between sessions, marks at gaps and a button for new rows above. */
export function EventList({ rows, values, filter, chosen, cursor, marked, box, onChoose }: ListProps) {
  void rows.version.value;
  const layout = layoutFor(useWidth(box), choice.value);
  const runs = useMemo(() => new Runs(), [rows]);
  runs.update(rows);
  const below = new Set(rows.gaps().map((it) => it.below));
  const placeOf = (seq: number | undefined) => {
    const index = seq === undefined ? -1 : rows.indexOf(seq);
    return index === -1 || seq === undefined ? -1 : runs.placeOf(index, seq);
  };
  const context: RowContext = { layout, values, filtered: propertiesIn(filter), marked };
  return (
    <div class="events-list" ref={box}>
      <WindowedList<Item>
        label="Events, the newest first"
        class={layout.isTwoLines ? "events-rows events-two" : "events-rows"}
        template={layout.template}
        count={runs.count()}
        added={runs.added()}
        chosen={placeOf(chosen)}
        active={placeOf(cursor.value)}
        onActive={(item) => {
          cursor.value = seqOf(item);
        }}
        head={<EventHead layout={layout} />}
        at={(place) => runs.at(place, rows, rows.indexOf)}
        keyOf={(item) => ("row" in item ? item.row.seq : `run ${item.run.key} ${item.run.first}`)}
        isDivider={(item) => "run" in item}
        classOf={(item) =>
          "row" in item
            ? `events-${outcomeOf(item.row)}${below.has(item.row.seq) ? " events-gap" : ""}${jointOf(rows, item.row)}`
            : ""
        }
        cellsOf={(item) =>
          "row" in item ? <EventCells row={item.row} context={context} /> : <RunCells run={item.run} />
        }
        onChoose={(item) => onChoose(seqOf(item))}
        onNearEnd={rows.older}
      />
      <NewRowsButton rows={rows} box={box} />
    </div>
  );
}

/** Classes of the line that joins neighbouring events of one request. */
function jointOf(rows: LiveRows<EventRow>, { seq, n }: EventRow): string {
  const index = rows.indexOf(seq);
  const isSame = (at: number) => at >= 0 && rows.at(at)?.n === n;
  const [above, under] = [isSame(index - 1), isSame(index + 1)];
  if (!above && !under) return "";
  return ` events-joint${above ? "" : " events-joint-first"}${under ? "" : " events-joint-last"}`;
}

/** The divider above a run: its person, session, length, and what is in it; or above single rows of several people. */
function RunCells({ run }: { run: Run }) {
  const { session, distinctId, count, exceptions, first, last, singles } = run;
  const isOne = count > 1 || singles === 1;
  const length = last - first;
  return (
    <Cell class="events-run">
      <Icon of={isOne && session !== null ? "sessions" : "people"} />
      <span class="cut">
        {isOne ? (
          <>
            <b>{distinctId === "" ? "(no distinct id)" : plain(distinctId, longest)}</b>
            {" · "}
            {session === null ? (
              "no session"
            ) : (
              <a href={link("sessions", [session])} title="The session, with its recording">
                {`session ${shortId(session)}`}
              </a>
            )}
            {length > 0 && ` · ${spanText(length)}`}
          </>
        ) : (
          "Several people"
        )}
      </span>
      <span class="end">
        {counted(isOne ? count : singles, "event")}
        {exceptions > 0 && isOne && ` · ${counted(exceptions, "exception")}`}
      </span>
    </Cell>
  );
}

const bodyOf = (box: RefObject<HTMLDivElement>): HTMLElement | null =>
  box.current?.querySelector<HTMLElement>(".list-body") ?? null;

/** The number of new rows above the visible ones: while paused, or while scrolled down. */
function NewRowsButton({ rows, box }: Pick<ListProps, "rows" | "box">) {
  void rows.version.value;
  const seen = useSignal(rows.added());
  const isAtTop = useSignal(true);
  useEffect(() => {
    const body = bodyOf(box);
    if (!body) return;
    const look = () => {
      isAtTop.value = body.scrollTop < 8;
    };
    body.addEventListener("scroll", look, { passive: true });
    look();
    return () => body.removeEventListener("scroll", look);
  }, [box, isAtTop]);
  useEffect(() => {
    if (isAtTop.value) seen.value = rows.added();
  });
  const isPaused = rows.isPaused.value;
  const unread = rows.unread.value + (isAtTop.value ? 0 : Math.max(0, rows.added() - seen.value));
  const show = () => {
    rows.resume();
    bodyOf(box)?.scrollTo({ top: 0 });
  };
  if (unread === 0 && !isPaused) return null;
  return (
    <div class="events-above" role="status">
      <ResumeButton unread={unread} onClick={show} />
    </div>
  );
}

const ResumeButton = ({ unread, onClick }: { unread: number; onClick(): void }) => (
  <Button kind="main" onClick={onClick}>
    {unread === 0 ? "Paused · resume" : `${numberText(unread)} new · show`}
  </Button>
);

/** An empty list while paused. */
export function PausedList({ rows }: { rows: LiveRows<EventRow> }) {
  return (
    <Empty title="Paused">
      <p>New events are kept and appear here when you resume.</p>
      <p role="status">
        <ResumeButton unread={rows.unread.value} onClick={rows.resume} />
      </p>
    </Empty>
  );
}

/** A notice when the page holds as many rows as it can. */
export function LoadLimitNotice({ rows }: { rows: LiveRows<EventRow> }) {
  if (!rows.isFull.value) return null;
  return (
    <p class="row row-wide events-notice">
      {`The page has loaded ${counted(rows.count(), "event")}, its limit. Use a filter to find older ones.`}
    </p>
  );
}

/** Maximum length of names and ids. */
const longest = 200;

function EventHead({ layout }: { layout: ColumnLayout }) {
  return (
    <>
      {layout.columns.map((column) => (
        <HeadCell key={column.id} class={`events-col-${column.id}`} title={plain(column.title, longest)}>
          {column.id === "outcome" ? <span class="unseen">Outcome</span> : plain(column.title, 60)}
          {!layout.isTwoLines && column.width > 16 && <Handle column={column} />}
        </HeadCell>
      ))}
    </>
  );
}

/** Steps of the arrow keys, px. */
const step = 8;

/** The right edge of a column's title, which changes its width. */
function Handle({ column: { id, title, width } }: { column: Column }) {
  const now = choice.value.widths[id] ?? width;
  const begun = useSignal<number | undefined>(undefined);
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -step, ArrowRight: step };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <span
      class="events-resize"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${plain(title, 60)}`}
      aria-valuenow={now}
      aria-valuemin={40}
      aria-valuemax={1000}
      title="Drag, or use the arrow keys; Home sets the usual width"
      onPointerDown={(event) => {
        begun.value = event.clientX - now;
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (begun.value !== undefined) resizeColumn(id, event.clientX - begun.value);
      }}
      onPointerUp={() => {
        begun.value = undefined;
      }}
      onPointerCancel={() => {
        begun.value = undefined;
      }}
      onKeyDown={(event) => {
        const by = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
        if (event.key === "Home") resizeColumn(id, undefined);
        else if (by !== undefined) resizeColumn(id, now + by);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

/** What the cells of all rows have in common. */
interface RowContext {
  readonly layout: ColumnLayout;
  /** Properties that the rows have values of. */
  readonly values: readonly string[];
  /** Properties that the filter compares. */
  readonly filtered: readonly string[];
  readonly marked: number | undefined;
}

function EventCells({ row, context }: { row: EventRow; context: RowContext }) {
  return (
    <>
      {context.layout.columns.map(({ id }) => (
        <EventCell key={id} id={id} row={row} context={context} />
      ))}
    </>
  );
}

function EventCell({ id, row, context }: { id: string; row: EventRow; context: RowContext }) {
  switch (id) {
    case "at":
      return (
        <Cell class="muted">
          <Time at={row.at} />
        </Cell>
      );
    case "outcome": {
      const of = outcomeOf(row);
      return (
        <Cell class="events-sign" title={explanationOf(row) || of}>
          <OutcomeSign of={of} />
          <span class="unseen">{of}</span>
        </Cell>
      );
    }
    case "event":
      return (
        <Cell class="events-what" title={plain(row.event, longest)}>
          <NameOf row={row} isMarked={row.seq === context.marked} />
          {context.layout.isTwoLines && (
            <span class="events-second cut">
              <Preview row={row} context={context} />
            </span>
          )}
        </Cell>
      );
    case "preview":
      return (
        <Cell class="events-preview">
          <Preview row={row} context={context} />
        </Cell>
      );
    case "path":
      return (
        <Cell class="muted" title={plain(row.path, longest)}>
          {plain(row.path, longest)}
        </Cell>
      );
    case "lib":
      return <Cell class="muted">{plain(row.lib, 40)}</Cell>;
    case "id":
      return (
        <Cell class="mono" title={plain(row.distinct_id, longest)}>
          {row.distinct_id === "" ? <span class="muted">(none)</span> : plain(row.distinct_id, longest)}
        </Cell>
      );
    case "project":
      return <Cell class="muted">{plain(projectName(row.project))}</Cell>;
    default:
      return <Cell title={valueText(row, id, context)}>{valueText(row, id, context)}</Cell>;
  }
}

/** The value of a property's column; "" if the event does not have it, or was loaded before the column. */
function valueText(row: EventRow, id: string, { values }: RowContext): string {
  const at = isProperty(id) ? values.indexOf(propertyOf(id)) : -1;
  return plain(row.values?.[at] ?? "", longest);
}

/** Icon and name; an exception is named by its type. */
function NameOf({ row, isMarked }: { row: EventRow; isMarked: boolean }) {
  const kind = eventKind(row.event);
  const name = kind === "exception" ? (row.preview[0]?.[0] ?? row.event) : row.event;
  return (
    <span class={`events-name events-name-${kind}`}>
      {isMarked && <Badge tone="note">to compare</Badge>}
      <EventIcon name={row.event} />
      <span class="cut">{name === "" ? <em>no name</em> : plain(name, longest)}</span>
    </span>
  );
}

/** The reason where there is one, else what matters of the properties; those of the filter first. */
function Preview({ row, context: { values, filtered } }: { row: EventRow; context: RowContext }) {
  const [code, ...others] = codesOf(row);
  const found = filtered.flatMap((name) => {
    const value = row.values?.[values.indexOf(name)] ?? undefined;
    return value === undefined ? [] : ([[name, value]] as const);
  });
  const marks = found.map(([name, value]) => (
    <span key={name} class="events-part">
      {`${plain(name, 60)} `}
      <mark>{plain(value, longest)}</mark>
    </span>
  ));
  if (code !== undefined)
    return (
      <>
        {marks}
        <span class="events-part">
          <span class={`events-code-${outcomeOf(row)}`}>{plain(code, 80)}</span>
          {others.length > 0 && ` and ${others.length} more`} {sentenceText(row, code)}
        </span>
      </>
    );
  const isException = eventKind(row.event) === "exception";
  const lag = lagText(row);
  return (
    <>
      {marks}
      {row.preview.map(([label, value], i) =>
        found.some(([name]) => name === label) ? null : (
          <span key={i} class="events-part">
            {label !== "" && !(isException && i === 0) && `${plain(label, 60)} `}
            {isException && i === 0 ? plain(value, longest) : <b>{plain(value, longest)}</b>}
          </span>
        ),
      )}
      {lag !== "" && <span class="events-part">{lag}</span>}
    </>
  );
}

/** The sentence of the code, unless it is the code itself. */
function sentenceText(row: EventRow, code: string): string {
  const sentence = withoutTicks(sentenceOf(row));
  return sentence === code ? "" : plain(sentence, longest);
}
