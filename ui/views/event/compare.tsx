import { useMemo, useState } from "preact/hooks";
import type { Json } from "../../../src/kernel/json.ts";
import type { Path } from "../../../src/kernel/json-pointer.ts";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keys.ts";
import { go } from "../../app/location.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { counted } from "../../parts/text.ts";
import { jsonPath } from "../../parts/tree/model.ts";
import { ShownText } from "../../parts/tree/row.tsx";
import { cutText } from "../../parts/tree/text.ts";
import { type Change, comparable, countsOf, type Difference, differencesOf } from "./diff.ts";
import { Gone, useEvent } from "./gone.tsx";
import { Named } from "./named.tsx";
import { nearestPath, sameName } from "./neighbours.ts";
import { eventHref } from "./place.ts";
import { ShownValue } from "./shown-value.tsx";

const marks: Readonly<Record<Change, { mark: string; word: string }>> = {
  same: { mark: "=", word: "same" },
  added: { mark: "+", word: "added" },
  removed: { mark: "−", word: "removed" },
  changed: { mark: "≠", word: "changed" },
};

/** How an event differs from the one of the same name before it. */
export function CompareBefore({ event }: { event: StoredEvent }) {
  const path = nearestPath(event.seq, sameName(event), "desc");
  const { data: page } = useResource<{ events: StoredEvent[] }>(path);
  const before = page?.events[0];
  if (before) return <Comparison one={event} other={before} />;
  return (
    <p class="event-wait muted">
      {page || path === null ? "No event of this name came before." : "Loading the event before."}{" "}
      <a href={eventHref(event.seq)}>Back to event {event.seq}</a>
    </p>
  );
}

/** How two events differ. */
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
    <p class="event-counts" role="status">
      <Badge tone="odd" isMarked={false}>{`≠ ${changed} changed`}</Badge>
      <Badge tone="good" isMarked={false}>{`+ ${added} added`}</Badge>
      <Badge tone="bad" isMarked={false}>{`− ${removed} removed`}</Badge>
      <span class="muted">
        {counted(volatile, "field")} new each time, {same} equal
      </span>
    </p>
  );
}

function Comparison({ one, other }: { one: StoredEvent; other: StoredEvent }) {
  const [all, setAll] = useState(false);
  useKeys("Comparison", [
    { keys: "D", does: "Back to the event", run: () => go(eventHref(one.seq)) },
    { keys: "a", does: "Show what is equal or new each time", run: () => setAll(!all) },
  ]);
  const [before, after] = one.seq < other.seq ? [one, other] : [other, one];
  const differences = useMemo(() => differencesOf(comparable(before), comparable(after)), [before, after]);
  const shown = differences.filter((it) => isShown(it, all));
  return (
    <article class="event" aria-label="Comparison of two events">
      <header class="event-head">
        <p class="event-number muted">
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
          Show what is equal or new each time
        </Button>
      </header>
      <div class="event-part">
        {shown.length === 0 ? (
          <p class="muted">They differ in nothing but what is new each time.</p>
        ) : (
          <Table shown={shown} before={before} after={after} />
        )}
      </div>
    </article>
  );
}

const mostShown = 500;

function Table(props: { shown: readonly Difference[]; before: StoredEvent; after: StoredEvent }) {
  const { shown, before, after } = props;
  return (
    <>
      <table class="table event-diff">
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Difference</span>
            </th>
            <th scope="col">Field</th>
            <th scope="col">
              <a href={eventHref(before.seq)}>Event {before.seq}</a>
            </th>
            <th scope="col">
              <a href={eventHref(after.seq)}>Event {after.seq}</a>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, mostShown).map((it) => (
            <Row key={jsonPath(it.path)} difference={it} />
          ))}
        </tbody>
      </table>
      {shown.length > mostShown && (
        <p class="muted">
          The first {mostShown} of {counted(shown.length, "difference")} are shown.
        </p>
      )}
    </>
  );
}

/** To be read, not to be copied: `properties.$set.plan`. */
const placeText = (path: Path): string =>
  path.map((step, i) => (typeof step === "number" ? `[${step}]` : `${i > 0 ? "." : ""}${step}`)).join("");

function Row({ difference }: { difference: Difference }) {
  const { path, change, before, after, isVolatile } = difference;
  const { mark } = marks[change];
  const word = marks[change].word + (isVolatile && change !== "same" ? ", new each time" : "");
  return (
    <tr class={`event-${change}${isVolatile ? " event-volatile" : ""}`}>
      <td class="event-mark" title={word}>
        <span aria-hidden="true">{mark}</span>
        <span class="unseen">{word}</span>
      </td>
      <th scope="row" class="event-field mono">
        <ShownText text={cutText(placeText(path), 200)} />
      </th>
      <Side value={before} />
      <Side value={after} />
    </tr>
  );
}

const Side = ({ value }: { value: Json | undefined }) => (
  <td>{value === undefined ? <span class="muted">not there</span> : <ShownValue value={value} />}</td>
);
