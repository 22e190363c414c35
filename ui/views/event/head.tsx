import type { ComponentChildren } from "preact";
import { capital } from "../../../src/kernel/base/text.ts";
import { outcomeOf } from "../../../src/state/journal/outcomes.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { link } from "../../app/location.ts";
import { stat } from "../../feed/socket.ts";
import { CopyButton, Facts, Prose, Time } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Fix, OutcomeBadge } from "../../parts/outcome.tsx";
import { dateText, explained, numberText, plain, spanText } from "../../parts/text.ts";
import { type ShownRequest, senderOf, skewOf } from "./event-facts.ts";
import { Named } from "./event-parts.tsx";
import { compareHref, eventHref, type Neighbours } from "./neighbours.ts";

interface StepProps {
  to: number | undefined;
  label: string;
  class?: string;
  children: ComponentChildren;
}

function Step({ to, label, class: name = "event-step", children }: StepProps) {
  if (to === undefined)
    return (
      <span class={name} aria-disabled="true">
        {children}
      </span>
    );
  return (
    <a class={name} href={eventHref(to)} aria-label={`${label}, event ${to}`} title={label}>
      {children}
    </a>
  );
}

const button = "button button-quiet button-icon";

/** What is done with the event; its fourth button, close, belongs to the panel. */
function Buttons({ near }: { near: Neighbours }) {
  return (
    <span class="event-buttons">
      <Step to={near.newer} label="Newer event (k)" class={button}>
        <Icon of="up" />
      </Step>
      <Step to={near.older} label="Older event (j)" class={button}>
        <Icon of="down" />
      </Step>
      <CopyButton kind="quiet" icon="link" label="Copy link" text={() => location.href} />
    </span>
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

/** How much later it arrived than it happened: +1 ms. */
function skewText(event: StoredEvent): string {
  const skew = -skewOf(event);
  return Number.isNaN(skew) ? "" : `${skew < 0 ? "\u2212" : "+"}${spanText(skew)}`;
}

/** A time of today without its date. */
function Moment({ at }: { at: string }) {
  const isToday = dateText(Date.parse(at)).slice(0, 10) === dateText(Date.now()).slice(0, 10);
  return <Time at={at} isExact={!isToday} />;
}

function Request({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  return (
    <>
      <a href={link("requests", [event.request])}>#{event.request}</a>{" "}
      {request && plain(`${request.method} ${request.target}`, 200)}
    </>
  );
}

function NumberOfAll({ seq }: { seq: number }) {
  const all = stat.value?.events ?? 0;
  return (
    <>
      {numberText(seq)} {all >= seq && <span class="muted">of {numberText(all)}</span>}
    </>
  );
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

interface HeadProps {
  event: StoredEvent;
  near: Neighbours;
  request: ShownRequest | undefined;
}

/** Head of the details, of the same height for all events: tabs do not move while stepping. */
export function Head({ event, near, request }: HeadProps) {
  return (
    <header class="stack event-head">
      <div class="event-title">
        <EventIcon name={event.event} />
        <h2 class="cut" title={plain(event.event, 300)}>
          <Named text={event.event} otherwise="(no name)" />
        </h2>
        <OutcomeBadge of={outcomeOf(event)} />
        <Buttons near={near} />
      </div>
      <Facts
        rows={{
          Person: <Person event={event} />,
          Event: <Moment at={event.timestamp} />,
          SDK: plain(senderOf(event, request) ?? "unknown", 200),
          Arrived: (
            <>
              <Moment at={event.received_at} /> <span class="muted">{skewText(event)}</span>
            </>
          ),
          Request: <Request event={event} request={request} />,
          "No.": <NumberOfAll seq={event.seq} />,
          Session: <SessionLink event={event} />,
        }}
      />
      <Steps event={event} near={near} />
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
          <div key={code} class={`stack stack-tight callout callout-${i === 0 ? outcomeOf(event) : "warned"}`}>
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
