import { useMemo, useState } from "preact/hooks";
import { type Json, pathText } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { go } from "../../app/location.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { counted } from "../../parts/text.ts";
import { jsonPath } from "../../parts/tree/model.ts";
import { cutText } from "../../parts/tree/safe-text.ts";
import { ShownText } from "../../parts/tree/tree-row.tsx";
import { type Change, comparable, countsOf, type Difference, differencesOf } from "./diff.ts";
import { Gone, Named, ShownValue, useEvent } from "./event-parts.tsx";
import { eventHref, nearestPath, sameName } from "./neighbours.ts";

const marks: Readonly<Record<Change, { mark: string; word: string }>> = {
  same: { mark: "=", word: "same" },
  added: { mark: "+", word: "added" },
  removed: { mark: "−", word: "removed" },
  changed: { mark: "≠", word: "changed" },
};

/** Compares an event with the previous one of the same name. */
export function CompareBefore({ event }: { event: StoredEvent }) {
  const path = nearestPath(event.seq, sameName(event), "desc");
  const { data: page } = useResource<{ events: StoredEvent[] }>(path);
  const before = page?.events[0];
  if (before) return <Comparison one={event} other={before} />;
  return (
    <p class="event-wait muted">
      {page || path === null ? "There is no earlier event with this name." : "Loading the previous event."}{" "}
      <a href={eventHref(event.seq)}>Back to event {event.seq}</a>
    </p>
  );
}

export function EventCompare({ first, second }: { first: number; second: number }) {
  const one = useEvent(first);
  const other = useEvent(second);
  if (one.problem) return <Gone seq={first} of={one} />;
  if (other.problem) return <Gone seq={second} of={other} />;
  if (!one.event || !other.event) return <p class="event-wait muted">Loading both events</p>;
  return <Comparison one={one.event} other={other.event} />;
}

const isShown = ({ change, isVolatile }: Difference, all: boolean): boolean =>
  all || (change !== "same" && !isVolatile);

function Summary({ differences }: { differences: readonly Difference[] }) {
  const { added, removed, changed, volatile, same } = countsOf(differences);
  return (
    <p class="row row-wide" role="status">
      <Badge tone="odd" isMarked={false}>{`≠ ${changed} changed`}</Badge>
      <Badge tone="good" isMarked={false}>{`+ ${added} added`}</Badge>
      <Badge tone="bad" isMarked={false}>{`− ${removed} removed`}</Badge>
      <span class="muted">
        {counted(volatile, "field")} volatile, {same} equal
      </span>
    </p>
  );
}

function Comparison({ one, other }: { one: StoredEvent; other: StoredEvent }) {
  const [all, setAll] = useState(false);
  useKeys("Comparison", [
    { keys: "D", does: "Back to the event", run: () => go(eventHref(one.seq)) },
    { keys: "a", does: "Show equal and volatile fields", run: () => setAll(!all) },
  ]);
  const [before, after] = one.seq < other.seq ? [one, other] : [other, one];
  const differences = useMemo(() => differencesOf(comparable(before), comparable(after)), [before, after]);
  const shown = differences.filter((it) => isShown(it, all));
  return (
    <article class="event" aria-label="Comparison of two events">
      <header class="stack event-head">
        <p class="muted small">
          <a href={eventHref(one.seq)}>Back to event {one.seq}</a>
        </p>
        <h2>
          <Named text={one.event} otherwise="(no name)" />
          {one.event !== other.event && (
            <>
              {" "}
              and <Named text={other.event} otherwise="(no name)" />
            </>
          )}
        </h2>
        <Summary differences={differences} />
        <Button class="event-all" isPressed={all} onClick={() => setAll(!all)}>
          Show equal and volatile fields
        </Button>
      </header>
      <div class="event-part">
        {shown.length === 0 ? (
          <p class="muted">They differ only in volatile fields.</p>
        ) : (
          <DifferenceTable shown={shown} before={before} after={after} />
        )}
      </div>
    </article>
  );
}

const mostShown = 500;

function DifferenceTable(props: { shown: readonly Difference[]; before: StoredEvent; after: StoredEvent }) {
  const { shown, before, after } = props;
  return (
    <>
      <Table
        class="event-diff"
        columns={[
          <span key="mark" class="unseen">
            Difference
          </span>,
          "Field",
          ...[before, after].map(({ seq }) => (
            <a key={seq} href={eventHref(seq)}>
              Event {seq}
            </a>
          )),
        ]}
      >
        {shown.slice(0, mostShown).map((it) => (
          <Row key={jsonPath(it.path)} difference={it} />
        ))}
      </Table>
      {shown.length > mostShown && (
        <p class="muted">
          The first {mostShown} of {counted(shown.length, "difference")} are shown.
        </p>
      )}
    </>
  );
}

function Row({ difference }: { difference: Difference }) {
  const { path, change, before, after, isVolatile } = difference;
  const { mark } = marks[change];
  const word = marks[change].word + (isVolatile && change !== "same" ? ", volatile" : "");
  return (
    <tr class={`event-${change}${isVolatile ? " event-volatile" : ""}`}>
      <td class="event-mark" title={word}>
        <span aria-hidden="true">{mark}</span>
        <span class="unseen">{word}</span>
      </td>
      <th scope="row" class="event-field mono">
        <ShownText text={cutText(pathText(path), 200)} />
      </th>
      <Side value={before} />
      <Side value={after} />
    </tr>
  );
}

const Side = ({ value }: { value: Json | undefined }) => (
  <td>{value === undefined ? <span class="muted">missing</span> : <ShownValue value={value} />}</td>
);
