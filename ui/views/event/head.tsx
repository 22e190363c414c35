import { outcomeOf } from "../../../src/journal/outcomes.ts";
import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import { link } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Facts, Prose, Time } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Fix, OutcomeBadge } from "../../parts/outcome.tsx";
import { explained, plain, spanText } from "../../parts/text.ts";
import { capital, skewOf } from "./event-facts.ts";
import { Named } from "./event-parts.tsx";
import { compareHref, eventHref, type Neighbours } from "./neighbours.ts";

function Step({ to, label, children }: { to: number | undefined; label: string; children: string }) {
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
  const { before } = near;
  return (
    <nav class="row row-wide event-steps" aria-label="Events around this one">
      <span>
        Same name
        <Step to={before} label="Previous event of the same name ( [ )">
          ‹
        </Step>
        <Step to={near.after} label="Next event of the same name ( ] )">
          ›
        </Step>
      </span>
      <span>
        Same person
        <Step to={near.personBefore} label="Previous event of the same person ( { )">
          ‹
        </Step>
        <Step to={near.personAfter} label="Next event of the same person ( } )">
          ›
        </Step>
      </span>
      {before === undefined ? (
        <span aria-disabled="true">Compare</span>
      ) : (
        <a
          href={compareHref(event.seq, before)}
          aria-label="Compare with the previous event"
          title="Compare with the previous event (D)"
        >
          Compare
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
  full: { text: "has a profile", title: undefined },
  propertyless: { text: "no profile", title: "Sent with $process_person_profile: false" },
  none: { text: "no person", title: undefined },
} as const;

function Person({ event }: { event: StoredEvent }) {
  const id = <Named text={event.distinct_id} otherwise="none sent" />;
  if (event.person_id === null || event.person_mode !== "full")
    return (
      <>
        {id}{" "}
        <span class="muted" title={personModes[event.person_mode].title}>
          {personModes[event.person_mode].text}
        </span>
      </>
    );
  // by distinct id: unlike the uuid, it survives merges
  return <a href={link("people", [event.distinct_id], { in: event.project ?? undefined })}>{id}</a>;
}

/** The session at the moment of the event. */
function SessionLink({ event: { properties, project, timestamp } }: { event: StoredEvent }) {
  const { $session_id: id } = properties;
  if (typeof id !== "string" || id === "" || id.length > 200) return <span class="muted">none</span>;
  const place = { in: project ?? undefined, t: Date.parse(timestamp) };
  return (
    <a href={link("sessions", [id], place)} title="The session at this moment, with its recording">
      <Named text={id} otherwise="" />
    </a>
  );
}

/** Head of the details, of the same height for all events. */
export function Head({ event, near }: { event: StoredEvent; near: Neighbours }) {
  const { seq, uuid } = event;
  return (
    <header class="stack event-head">
      <p class="muted small">Event {seq}</p>
      <div class="row event-title">
        <EventIcon name={event.event} />
        <h2 class="cut" title={plain(event.event, 300)}>
          <Named text={event.event} otherwise="(no name)" />
        </h2>
        <OutcomeBadge of={outcomeOf(event)} />
      </div>
      <Steps event={event} near={near} />
      <Facts
        rows={{
          "Distinct id": <Person event={event} />,
          "Event time": (
            <>
              <Time at={event.timestamp} isExact /> <span class="muted">{skewText(event)}</span>
            </>
          ),
          Arrival: <Time at={event.received_at} isExact />,
          Project: plain(projectName(event.project)),
          Session: <SessionLink event={event} />,
          uuid: uuid === null ? <span class="muted">none</span> : <code>{plain(uuid)}</code>,
        }}
      />
    </header>
  );
}

/** Drop reason and warnings, each with its fix. */
export function Reasons({ event }: { event: StoredEvent }) {
  const codes = [event.reason, ...event.warnings].filter((it) => it !== null);
  if (codes.length === 0) return null;
  return (
    <div class="stack event-reasons">
      {codes.map((code, i) => {
        const { sentence, fix } = explained(code);
        return (
          <div
            key={code}
            class={`stack stack-tight callout callout-${i === 0 ? outcomeOf(event) : "warned"}`}
          >
            <p>
              <strong>
                <Prose text={`${capital(sentence)}.`} />
              </strong>{" "}
              <code>{plain(code)}</code>
            </p>
            {i === 0 && event.detail && <p class="event-detail mono">{plain(event.detail)}</p>}
            <Fix text={fix} />
          </div>
        );
      })}
    </div>
  );
}
