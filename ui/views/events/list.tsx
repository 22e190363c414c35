import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { EventRow } from "../../../src/model/row.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { Button, Empty } from "../../parts/basics.tsx";
import { counted, numberText } from "../../parts/text.ts";
import { WindowedList } from "../../parts/windowed-list.tsx";
import { EventCells, EventHead, rowClass } from "./cells.tsx";

interface ListProps {
  rows: LiveRows<EventRow>;
  /** The event that is open. */
  chosen: number | undefined;
  /** The event that the keys are at. */
  cursor: Signal<number | undefined>;
  marked: number | undefined;
  hasProjects: boolean;
  box: RefObject<HTMLDivElement>;
  onChoose(seq: number): void;
}

/** The list, and what tells of rows that are not seen: they came above, or not at all. */
export function EventList({ rows, chosen, cursor, marked, hasProjects, box, onChoose }: ListProps) {
  void rows.version.value;
  const below = new Set(rows.gaps().map((it) => it.below));
  const classAt = (index: number): string => {
    const row = rows.at(index);
    if (!row) return "";
    return below.has(row.seq) ? `${rowClass(row)} events-gap` : rowClass(row);
  };
  return (
    <div class="events-list" ref={box}>
      <WindowedList
        label="Events, the newest first"
        class={hasProjects ? "events-rows events-rows-all" : "events-rows"}
        count={rows.count()}
        added={rows.added()}
        chosen={chosen === undefined ? -1 : rows.indexOf(chosen)}
        active={cursor.value === undefined ? -1 : rows.indexOf(cursor.value)}
        onActive={(index) => {
          cursor.value = rows.at(index)?.seq;
        }}
        head={<EventHead />}
        keyAt={(index) => rows.at(index)?.seq ?? `none-${index}`}
        classAt={classAt}
        cellsAt={(index) => {
          const row = rows.at(index);
          return row && <EventCells row={row} isMarked={row.seq === marked} />;
        }}
        onChoose={(index) => {
          const row = rows.at(index);
          if (row) onChoose(row.seq);
        }}
        onNearEnd={rows.older}
      />
      <Above rows={rows} box={box} />
    </div>
  );
}

const bodyOf = (box: RefObject<HTMLDivElement>): HTMLElement | null =>
  box.current?.querySelector<HTMLElement>(".list-body") ?? null;

/** How many rows came above what is seen: in a pause, or while somebody reads further down. */
function Above({ rows, box }: Pick<ListProps, "rows" | "box">) {
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
      <GoOn unread={unread} onClick={show} />
    </div>
  );
}

const GoOn = ({ unread, onClick }: { unread: number; onClick(): void }) => (
  <Button kind="main" onClick={onClick}>
    {unread === 0 ? "Paused · go on" : `${numberText(unread)} new · show`}
  </Button>
);

/** An empty list that is held still: it would not show what comes. */
export function HeldEmpty({ rows }: { rows: LiveRows<EventRow> }) {
  return (
    <Empty title="Paused">
      <p>What comes is kept, and waits here until you go on.</p>
      <p role="status">
        <GoOn unread={rows.unread.value} onClick={rows.resume} />
      </p>
    </Empty>
  );
}

/** What is missing in between, and how to get it. */
export function Missed({ rows }: { rows: LiveRows<EventRow> }) {
  const missed = rows.missed.value;
  if (missed === 0) return null;
  return (
    <p class="events-notice" role="status">
      <span>{`${numberText(missed)} ${missed === 1 ? "request" : "requests"} not shown: they came faster than the page took them.`}</span>
      <Button onClick={rows.loadMissed} disabled={rows.isLoading.value}>
        Load
      </Button>
    </p>
  );
}

/** The end of what is held. */
export function Older({ rows }: { rows: LiveRows<EventRow> }) {
  if (!rows.isFull.value) return null;
  return (
    <p class="events-notice">
      {`The page holds ${counted(rows.count(), "event")}; older ones are in the sim. A filter finds them.`}
    </p>
  );
}
