import type { ComponentChildren } from "preact";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { link } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Badge, Facts, Time } from "../../parts/basics.tsx";
import { plain, spanText } from "../../parts/text.ts";
import { Named } from "./named.tsx";
import type { Neighbours } from "./neighbours.ts";
import { compareHref, eventHref } from "./place.ts";
import { capital, explained, skewOf } from "./steps.ts";

function Verdict({ event }: { event: StoredEvent }) {
  if (event.outcome === "dropped") return <Badge tone="bad">dropped</Badge>;
  return event.warnings.length > 0 ? (
    <Badge tone="odd">kept, with warnings</Badge>
  ) : (
    <Badge tone="good">kept</Badge>
  );
}

/** What became of it, why, and what to do. */
function Told({ code, tone, detail }: { code: string; tone: "bad" | "odd"; detail?: string | null }) {
  const { sentence, fix } = explained(code);
  return (
    <div class={`event-told event-told-${tone}`}>
      <p>
        <strong>{capital(sentence)}</strong> <code>{plain(code)}</code>
      </p>
      {detail && <p class="event-detail mono">{plain(detail)}</p>}
      {fix !== "" && <p>To mend it: {fix}</p>}
    </div>
  );
}

function Step({
  to,
  label,
  children,
}: {
  to: number | undefined;
  label: string;
  children: ComponentChildren;
}) {
  if (to === undefined)
    return (
      <span class="event-step" aria-disabled="true">
        {children}
      </span>
    );
  return (
    <a class="event-step" href={eventHref(to)} aria-label={`${label}, event ${to}`} title={label}>
      {children}
    </a>
  );
}

function Steps({ event, near }: { event: StoredEvent; near: Neighbours }) {
  return (
    <nav class="event-steps" aria-label="Events around this one">
      <span>
        Same name
        <Step to={near.before} label="The one before of the same name ( [ )">
          ‹
        </Step>
        <Step to={near.after} label="The next one of the same name ( ] )">
          ›
        </Step>
      </span>
      <span>
        Same person
        <Step to={near.personBefore} label="The same person's event before ( { )">
          ‹
        </Step>
        <Step to={near.personAfter} label="The same person's next event ( } )">
          ›
        </Step>
      </span>
      {near.before !== undefined && (
        <a href={compareHref(event.seq, near.before)} title="D">
          Compare with the one before
        </a>
      )}
    </nav>
  );
}

function skewText(event: StoredEvent): string {
  const skew = skewOf(event);
  if (Math.abs(skew) < 1) return "at its arrival";
  return `${spanText(Math.abs(skew))} ${skew < 0 ? "before" : "after"} its arrival`;
}

const personModes = {
  full: "has a profile",
  propertyless: "no profile: sent with $process_person_profile: false",
  none: "no person",
} as const;

function Person({ event }: { event: StoredEvent }) {
  const id = <Named text={event.distinct_id} otherwise="none was sent" />;
  if (event.person_id === null || event.person_mode !== "full")
    return (
      <>
        {id} <span class="muted">{personModes[event.person_mode]}</span>
      </>
    );
  // its uuid may be gone: the id stays with the person when that is merged into another
  return <a href={link("people", [event.distinct_id], { in: event.project ?? undefined })}>{id}</a>;
}

/** What the event is, and what became of it. */
export function Head({ event, near }: { event: StoredEvent; near: Neighbours }) {
  return (
    <header class="event-head">
      <p class="event-number muted">Event {event.seq}</p>
      <h1>
        <Named text={event.event} otherwise="(no name)" />
      </h1>
      <div class="event-verdict">
        <Verdict event={event} />
        <Steps event={event} near={near} />
      </div>
      {event.reason !== null && <Told code={event.reason} tone="bad" detail={event.detail} />}
      {event.warnings.map((code, i) => (
        <Told
          key={code}
          code={code}
          tone="odd"
          detail={i === 0 && event.reason === null ? event.detail : null}
        />
      ))}
      <Facts
        rows={[
          ["Distinct id", <Person key="person" event={event} />],
          [
            "Event time",
            <span key="time">
              <Time at={Date.parse(event.timestamp)} isWhole /> <span class="muted">{skewText(event)}</span>
            </span>,
          ],
          ["Arrival", <Time key="arrival" at={Date.parse(event.received_at)} isWhole />],
          ["Project", plain(projectName(event.project))],
          event.uuid === null ? undefined : ["uuid", <code key="uuid">{plain(event.uuid)}</code>],
        ]}
      />
    </header>
  );
}
