import { useState } from "preact/hooks";
import { own } from "../../../../src/kernel/base/json.ts";
import type { ExceptionGroups } from "../../../../src/lab/exceptions/shapes.ts";
import {
  type ExceptionCause,
  type ExceptionFrame,
  exceptionGroup,
  type ReadException,
  readException,
} from "../../../../src/state/journal/exception.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { query } from "../../../api/call.ts";
import { useResource } from "../../../api/resource.ts";
import { link } from "../../../app/location.ts";
import { stat } from "../../../feed/socket.ts";
import { Badge, Time } from "../../../parts/basics.tsx";
import { EventIcon } from "../../../parts/event-icon.tsx";
import { CheckField } from "../../../parts/fields.tsx";
import { counted, numberText, plain, spanText } from "../../../parts/text.ts";
import { cutText } from "../../../parts/tree/safe-text.ts";
import { ShownText } from "../../../parts/tree/tree-row.tsx";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { eventHref } from "../neighbours.ts";
import { FrameLines } from "./frame-source.tsx";
import { fileText, framesFolded, placeText } from "./frames.ts";

const longestMessage = 2_000;

const handledText = { true: "handled", false: "not handled" } as const;

function Head({ of, cause }: { of: ReadException; cause: ExceptionCause }) {
  const { type, message, handled, mechanism, isSynthetic } = cause;
  return (
    <div class="stack stack-tight exception-head">
      <p class="exception-type mono">
        <Named text={type} otherwise="(no type)" />
      </p>
      <p class="exception-message">
        {message === "" ? (
          <span class="muted">(no message)</span>
        ) : (
          <ShownText text={cutText(message, longestMessage)} />
        )}
        {message.length > longestMessage && "…"}
      </p>
      <p class="row row-tight">
        {of.level !== "" && (
          <Badge tone="bad" isMarked={false}>
            level {plain(of.level, 40)}
          </Badge>
        )}
        {handled !== null && <Badge>{handledText[`${handled}`]}</Badge>}
        {mechanism !== "" && <Badge>{plain(mechanism, 60)}</Badge>}
        {isSynthetic && (
          <Badge title="Something other than an error was thrown; the SDK made this stack">synthetic</Badge>
        )}
      </p>
    </div>
  );
}

function Missing({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return <p class="small exception-missing">{`Incomplete: ${texts.join("; ")}.`}</p>;
}

interface CausesProps {
  causes: readonly ExceptionCause[];
  chosen: ExceptionCause;
  onChoose(cause: ExceptionCause): void;
}

function Causes({ causes, chosen, onChoose }: CausesProps) {
  if (causes.length < 2) return null;
  return (
    <section class="stack">
      <header class="row row-base">
        <h3>Causes</h3>
        <span class="small muted">newest first</span>
      </header>
      <ol class="exception-causes">
        {causes.map((it, i) => {
          const frame = it.frames.find(({ owner }) => owner === "app") ?? it.frames[0];
          return (
            <li key={it.place}>
              <button type="button" aria-current={it === chosen ? "true" : undefined} onClick={() => onChoose(it)}>
                <span class="faint number">{i + 1}</span>
                <span class="exception-cause">
                  <b class="mono">
                    <Named text={it.type} otherwise="(no type)" />
                  </b>{" "}
                  <Named text={it.message} otherwise="" />
                </span>
                <span class="muted mono">{frame && plain(fileText(frame), 60)}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface FrameProps {
  event: StoredEvent;
  cause: ExceptionCause;
  frame: ExceptionFrame;
  isOpen: boolean;
}

function Frame({ event, cause, frame, isOpen }: FrameProps) {
  const [open, setOpen] = useState(isOpen);
  const isApp = frame.owner === "app";
  return (
    <li>
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary class={isApp ? "exception-frame" : "exception-frame muted"}>
          <b class="cut">
            <Named text={frame.name} otherwise="(anonymous)" />
          </b>
          <span class="cut muted" title={plain(placeText(frame), 300)}>
            <Named text={placeText(frame)} otherwise="(no file)" />
          </span>
          {isApp && (
            <Badge tone="accent" isMarked={false}>
              in app
            </Badge>
          )}
        </summary>
        {open && <FrameLines seq={event.seq} cause={cause.place} frame={frame} />}
      </details>
    </li>
  );
}

function Frames({ event, cause, number }: { event: StoredEvent; cause: ExceptionCause; number: number | undefined }) {
  const [isApp, setApp] = useState(true);
  const { frames } = cause;
  const inApp = frames.filter(({ owner }) => owner === "app");
  const first = inApp[0] ?? frames[0];
  const props = { event, cause };
  return (
    <section class="stack">
      <header class="row row-base">
        <h3>{number === undefined ? "Frames" : `Frames of cause ${number}`}</h3>
        <span class="small muted">
          {`newest call first · ${numberText(inApp.length)} in app, ${counted(frames.length - inApp.length, "other")}`}
        </span>
        {inApp.length > 0 && inApp.length < frames.length && (
          <span class="end small">
            <CheckField label="In app only" isChecked={isApp} onChange={setApp} />
          </span>
        )}
      </header>
      {frames.length === 0 && <p class="muted">No stack was sent with this cause.</p>}
      <ul class="exception-frames">
        {framesFolded(frames, isApp && inApp.length > 0).map((it) =>
          "text" in it ? (
            <li key={`fold ${it.frames[0]?.place}`}>
              <details>
                <summary class="exception-fold">{plain(it.text, 160)}</summary>
                <ul class="exception-frames">
                  {it.frames.map((frame) => (
                    <Frame key={frame.place} {...props} frame={frame} isOpen={false} />
                  ))}
                </ul>
              </details>
            </li>
          ) : (
            <Frame key={it.place} {...props} frame={it} isOpen={it === first} />
          ),
        )}
      </ul>
    </section>
  );
}

/** Asked again until everything is counted, ms. */
const pause = 500;

function Same({ event }: { event: StoredEvent }) {
  const [id] = useState(() => exceptionGroup(event.properties));
  const project = event.project ?? undefined;
  const { data } = useResource<ExceptionGroups>(`exceptions${query({ project, id })}`, {
    revision: stat.value?.events,
    again: (it) => (it?.counting ? pause : undefined),
  });
  const group = data?.groups[0];
  const least = data && !data.complete ? "at least " : "";
  return (
    <section class="stack">
      <header class="row row-base">
        <h3>The same exception</h3>
        {group && (
          <a class="end small" href={link("events", [], { f: `event:$exception exception:${id}` })}>
            All {numberText(group.count)}
          </a>
        )}
      </header>
      {group ? (
        <p class="row row-wide small">
          <span>
            {least}
            <b>{numberText(group.count)}</b> {group.count === 1 ? "event" : "events"} ·{" "}
            {!group.persons_complete && "at least "}
            <b>{numberText(group.persons)}</b> {group.persons === 1 ? "person" : "persons"}
          </span>
          <span class="muted">
            first{" "}
            <a href={eventHref(group.first)}>
              <Time at={group.first_at} />
            </a>{" "}
            · last{" "}
            <a href={eventHref(group.last)}>
              <Time at={group.last_at} />
            </a>
          </span>
        </p>
      ) : (
        <p class="small muted">{data?.complete ? "Not counted separately." : "Counting"}</p>
      )}
      <p class="small muted">
        Grouped by {group?.fingerprint ? "the fingerprint that was sent" : "types, messages and the app's frames"}.{" "}
        <a href={link("exceptions")}>All exceptions</a>
      </p>
    </section>
  );
}

const eventsBefore = 5;

/** The session's events, else the person's, else the distinct id's. */
function beforePath(event: StoredEvent): string | null {
  if (event.seq === 1) return null;
  const session = own(event.properties, "$session_id");
  const whose =
    typeof session === "string" && session !== ""
      ? { where: JSON.stringify({ properties: { $session_id: session } }) }
      : event.person_id !== null
        ? { filter: `person:${event.person_id}` }
        : { distinct_id: event.distinct_id };
  const range = { until: event.seq - 1, order: "desc", limit: eventsBefore };
  return `events${query({ project: event.project ?? undefined, ...whose, ...range })}`;
}

function JustBefore({ event }: { event: StoredEvent }) {
  const path = beforePath(event);
  const { data } = useResource<{ events: readonly StoredEvent[] }>(path);
  const events = data?.events ?? [];
  return (
    <section class="stack">
      <h3>Just before</h3>
      {events.length === 0 ? (
        <p class="small muted">{data || path === null ? "Nothing of this session or person." : "Loading"}</p>
      ) : (
        <ul class="exception-before">
          {events.map((it) => (
            <li key={it.seq}>
              <Time at={it.timestamp} />
              <a class="cut" href={eventHref(it.seq)}>
                <EventIcon name={it.event} /> <Named text={it.event} otherwise="(no name)" />
              </a>
              <span class="faint number">
                −{spanText(Math.max(0, Date.parse(event.timestamp) - Date.parse(it.timestamp)))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The deepest cause with a frame of the app: there it began. */
const whereItBegan = (causes: readonly ExceptionCause[]): ExceptionCause | undefined =>
  causes.findLast(({ frames }) => frames.some(({ owner }) => owner === "app")) ??
  causes.findLast(({ frames }) => frames.length > 0) ??
  causes[0];

/** An `$exception`: what was thrown, where, what caused it, how often, and what happened before. */
export function Exception({ event }: KindProps) {
  const [read] = useState(() => readException(event.properties));
  const [chosen, choose] = useState(() => whereItBegan(read.causes));
  const [newest] = read.causes;
  if (!newest || !chosen)
    return (
      <div class="stack">
        <p class="muted">The event has no exception that can be read: no $exception_list, no $exception_type.</p>
        <Missing texts={read.missing} />
      </div>
    );
  const number = read.causes.length > 1 ? read.causes.indexOf(chosen) + 1 : undefined;
  return (
    <div class="stack stack-loose">
      <Head of={read} cause={newest} />
      <Missing texts={read.missing} />
      <Causes causes={read.causes} chosen={chosen} onChoose={choose} />
      <Frames key={chosen.place} event={event} cause={chosen} number={number} />
      <Missing texts={chosen.missing} />
      <Same event={event} />
      <JustBefore event={event} />
    </div>
  );
}
