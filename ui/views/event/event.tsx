import { useEffect } from "preact/hooks";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keys.ts";
import { go, route, withParams } from "../../app/location.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { eventGroups } from "../../parts/tree/groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { CompareBefore } from "./compare.tsx";
import { CopyAs } from "./copy-as.tsx";
import { Findings, type FindingsPage, useFindings } from "./findings.tsx";
import { Gone, useEvent } from "./gone.tsx";
import { Head, Reasons } from "./head.tsx";
import { type Neighbours, useNeighbours } from "./neighbours.ts";
import { PersonChanges } from "./person.tsx";
import { ownSteps } from "./person-steps.ts";
import { compareHref, eventHref } from "./place.ts";
import { Raw } from "./raw.tsx";
import { RequestFacts } from "./request.tsx";
import { findingsFor, personSteps, type ShownRequest } from "./steps.ts";

const tabs = ["payload", "person", "request", "warnings", "raw", "copy"] as const;
type Tab = (typeof tabs)[number];

const titles: Readonly<Record<Tab, string>> = {
  payload: "Properties",
  person: "Person",
  request: "Request",
  warnings: "Findings",
  raw: "As sent",
  copy: "Copy as",
};

const tabNow = (): Tab => tabs.find((it) => it === route.value.params.tab) ?? "payload";

/** All about one event. At `#/events/12/compare`: how it differs from the one of the same name before it. */
export function EventDetails({ seq }: { seq: number }) {
  const used = useEvent(seq);
  // what was shown stays until the next one is there: nothing jumps while stepping
  const event = useLast(used.event);
  const findings = useFindings(event);
  if (used.problem) return <Gone seq={seq} of={used} />;
  if (!event) return <p class="event-wait muted">Loading event {seq}</p>;
  const key = `${event.seq} ${event.received_at} ${event.uuid}`;
  if (route.value.path[1] === "compare") return <CompareBefore key={key} event={event} />;
  return <Details key={key} event={event} findings={findings} isBusy={event.seq !== seq} />;
}

function useEventKeys(event: StoredEvent, near: Neighbours): void {
  const to = (seq: number | undefined) => () => seq !== undefined && go(eventHref(seq));
  const show = (tab: Tab) => () => go(withParams({ tab: tab === "payload" ? undefined : tab }));
  useKeys("Event", [
    { keys: "c", does: "Copy as …", run: show("copy") },
    {
      keys: "D",
      does: "Compare with the one before of the same name",
      run: () => near.before !== undefined && go(compareHref(event.seq, near.before)),
    },
    { keys: "[", does: "The one before of the same name", run: to(near.before) },
    { keys: "]", does: "The next one of the same name", run: to(near.after) },
    { keys: "{", does: "The same person's event before", run: to(near.personBefore) },
    { keys: "}", does: "The same person's next event", run: to(near.personAfter) },
  ]);
}

interface DetailsProps {
  event: StoredEvent;
  findings: FindingsPage | undefined;
  /** Another event was asked for, and is not there yet. */
  isBusy: boolean;
}

function Details({ event, findings, isBusy }: DetailsProps) {
  const near = useNeighbours(event);
  const { data: request, problem } = useResource<ShownRequest>(`requests/${event.request}`);
  useEventKeys(event, near);
  const tab = tabNow();
  useEffect(() => {
    if (tab !== "payload")
      document.querySelector(".event .tab[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [tab]);
  const counts: Partial<Record<Tab, number>> = {
    payload: Object.keys(event.properties).length,
    person: ownSteps(personSteps(event)).length,
    warnings: findings ? findingsFor(event, findings.findings).length : 0,
  };
  return (
    <article class="event" aria-label={`Event ${event.seq}`} aria-busy={isBusy}>
      <Head event={event} near={near} />
      <Tabs
        label="About this event"
        current={tab}
        tabs={tabs.map((id) => ({
          id,
          title: titles[id],
          href: withParams({ tab: id === "payload" ? undefined : id }),
          count: counts[id] || undefined,
        }))}
      />
      <div class="event-part">
        <Reasons event={event} />
        {tab === "payload" && <Payload event={event} />}
        {tab === "person" && <PersonChanges event={event} />}
        {tab === "request" && <RequestFacts event={event} request={request} problem={problem} />}
        {tab === "warnings" && <Findings event={event} page={findings} />}
        {tab === "raw" && <Raw event={event} request={request} />}
        {tab === "copy" && <CopyAs event={event} request={request} />}
      </div>
    </article>
  );
}

function Payload({ event }: { event: StoredEvent }) {
  if (Object.keys(event.properties).length === 0) return <p class="muted">It has no properties.</p>;
  return <PayloadTree value={event.properties} label="Properties" search groups={eventGroups} />;
}
