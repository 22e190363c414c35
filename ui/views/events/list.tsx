import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import { outcomeOf } from "../../../src/journal/outcomes.ts";
import { projectName } from "../../app/sim.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { Badge, Button, Empty, Prose, Time } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import { codesOf, explanationOf, lagText, sentenceOf } from "./outcome.ts";

interface ListProps {
  rows: LiveRows<EventRow>;
  chosen: number | undefined;
  cursor: Signal<number | undefined>;
  marked: number | undefined;
  hasProjects: boolean;
  box: RefObject<HTMLDivElement>;
  onChoose(seq: number): void;
}

/** The list, with marks at gaps and a button for new rows above. */
export function EventList({ rows, chosen, cursor, marked, hasProjects, box, onChoose }: ListProps) {
  void rows.version.value;
  const below = new Set(rows.gaps().map((it) => it.below));
  return (
    <div class="events-list" ref={box}>
      <WindowedList
        label="Events, the newest first"
        class={hasProjects ? "events-rows events-rows-all" : "events-rows"}
        count={rows.count()}
        added={rows.added()}
        chosen={chosen === undefined ? -1 : rows.indexOf(chosen)}
        active={cursor.value === undefined ? -1 : rows.indexOf(cursor.value)}
        onActive={({ seq }) => {
          cursor.value = seq;
        }}
        head={<EventHead />}
        at={rows.at}
        keyOf={({ seq }) => seq}
        classOf={(row) => `events-${outcomeOf(row)}${below.has(row.seq) ? " events-gap" : ""}`}
        cellsOf={(row) => <EventCells row={row} isMarked={row.seq === marked} />}
        onChoose={({ seq }) => onChoose(seq)}
        onNearEnd={rows.older}
      />
      <NewRowsButton rows={rows} box={box} />
    </div>
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

function EventHead() {
  return (
    <>
      <HeadCell>Arrived</HeadCell>
      <HeadCell>Outcome</HeadCell>
      <HeadCell>Event</HeadCell>
      <HeadCell class="events-id">Distinct id</HeadCell>
      <HeadCell class="events-project">Project</HeadCell>
      <HeadCell class="events-why">Why</HeadCell>
    </>
  );
}

function EventCells({ row, isMarked }: { row: EventRow; isMarked: boolean }) {
  return (
    <>
      <Cell>
        <Time at={row.at} />
      </Cell>
      <Cell>
        <OutcomeBadge of={outcomeOf(row)} title={explanationOf(row)} />
      </Cell>
      <Cell class="events-name" title={plain(row.event, longest)}>
        {isMarked && <Badge tone="note">to compare</Badge>}
        {row.event === "" ? <span class="muted">(no name)</span> : plain(row.event, longest)}
      </Cell>
      <Cell class="events-id mono" title={plain(row.distinct_id, longest)}>
        {row.distinct_id === "" ? <span class="muted">(none)</span> : plain(row.distinct_id, longest)}
      </Cell>
      <Cell class="events-project muted">{plain(projectName(row.project))}</Cell>
      <Why row={row} />
    </>
  );
}

function Why({ row }: { row: EventRow }) {
  const [code] = codesOf(row);
  const lag = lagText(row);
  return (
    <Cell class="events-why" title={explanationOf(row)}>
      {code !== undefined && <code>{plain(code)}</code>}
      {code !== undefined && (
        <span class="cut events-sentence muted">
          <Prose text={plain(sentenceOf(row))} />
        </span>
      )}
      {lag !== "" && <span class="muted">{lag}</span>}
    </Cell>
  );
}
