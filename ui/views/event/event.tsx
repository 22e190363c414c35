import { useEffect } from "preact/hooks";
import type { LintPage } from "../../../src/lab/lint/shapes.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { go, route, withParams } from "../../app/location.ts";
import { Tabs } from "../../parts/layout.tsx";
import { eventGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { CompareBefore } from "./compare.tsx";
import { findingsFor, personSteps, type ShownRequest } from "./event-facts.ts";
import { Gone, useEvent } from "./event-parts.tsx";
import { Head, Reasons } from "./head.tsx";
import { kindViewOf } from "./kinds/kinds.ts";
import { compareHref, eventHref, type Neighbours, useNeighbours } from "./neighbours.ts";
import { CopyAs, Findings, ownSteps, PersonChanges, Raw, RequestFacts, useFindings } from "./tabs.tsx";

const tabs = ["kind", "payload", "person", "request", "warnings", "raw", "copy"] as const;
type Tab = (typeof tabs)[number];

const titles: Readonly<Record<Exclude<Tab, "kind">, string>> = {
  payload: "Properties",
  person: "Person",
  request: "Request",
  warnings: "Findings",
  raw: "As sent",
  copy: "Copy as",
};

/** The tab in the address; without one, the first: what the event shows, or its properties. */
function tabNow(hasKind: boolean): Tab {
  const named = tabs.find((it) => it === route.value.params.tab);
  if (named !== undefined && (named !== "kind" || hasKind)) return named;
  return hasKind ? "kind" : "payload";
}

/** Details of an event. At `#/events/12/compare`: its comparison with the previous one of the same name. */
export function EventDetails({ seq }: { seq: number }) {
  const used = useEvent(seq);
  // the old data stays while the next loads: no flicker while stepping
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
  const show = (tab: Tab) => () => go(withParams({ tab }));
  useKeys("Event", [
    { keys: "c", does: "Copy as …", run: show("copy") },
    {
      keys: "D",
      does: "Compare with the previous event of the same name",
      run: () => near.before !== undefined && go(compareHref(event.seq, near.before)),
    },
    { keys: "[", does: "Previous event of the same name", run: to(near.before) },
    { keys: "]", does: "Next event of the same name", run: to(near.after) },
    { keys: "{", does: "Previous event of the same person", run: to(near.personBefore) },
    { keys: "}", does: "Next event of the same person", run: to(near.personAfter) },
  ]);
}

interface DetailsProps {
  event: StoredEvent;
  findings: LintPage | undefined;
  /** Another event is loading. */
  isBusy: boolean;
}

function Details({ event, findings, isBusy }: DetailsProps) {
  const near = useNeighbours(event);
  const { data: request, problem } = useResource<ShownRequest>(`requests/${event.request}`);
  useEventKeys(event, near);
  const kind = kindViewOf(event.event);
  const tab = tabNow(kind !== undefined);
  const first = kind ? "kind" : "payload";
  useEffect(() => {
    if (tab !== first) document.querySelector(".event .tab[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [tab, first]);
  const counts: Partial<Record<Tab, number>> = {
    payload: Object.keys(event.properties).length,
    person: ownSteps(personSteps(event)).length,
    warnings: findings ? findingsFor(event, findings.findings).length : 0,
  };
  return (
    <article class="event" aria-label={`Event ${event.seq}`} aria-busy={isBusy}>
      <Head event={event} near={near} request={request} />
      <Tabs
        label="About this event"
        current={tab}
        tabs={tabs.flatMap((id) => {
          const title = id === "kind" ? kind?.title : titles[id];
          if (title === undefined) return [];
          const href = withParams({ tab: id === first ? undefined : id });
          return [{ id, title, href, count: counts[id] || undefined }];
        })}
      />
      <div class="event-part">
        <Reasons event={event} />
        {kind && tab === "kind" && <kind.View event={event} request={request} />}
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
  if (Object.keys(event.properties).length === 0) return <p class="muted">This event has no properties.</p>;
  return <PayloadTree value={event.properties} label="Properties" search groups={eventGroups} />;
}
