import { useEffect, useMemo, useRef } from "preact/hooks";
import { lossReasons } from "../../../src/lab/sessions/rrweb.ts";
import type {
  RecordingPage,
  SessionEvent,
  SessionPart,
  StoredSessionDetails,
} from "../../../src/lab/sessions/shapes.ts";
import { link, route, withParams } from "../../app/location.ts";
import { Button, Scrolled } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Table, Tabs } from "../../parts/layout.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, numberText, plain, sizeText } from "../../parts/text.ts";
import { type Moment, momentAt, offsetText, type Story } from "./story.ts";

const tabs = ["transcript", "events", "requests", "parts"] as const;
type Tab = (typeof tabs)[number];

const tabNow = (): Tab => tabs.find((it) => it === route.value.params.tab) ?? "transcript";

/** The most rows of a table. */
const mostRows = 1_000;

interface SideProps {
  session: StoredSessionDetails;
  story: Story;
  events: readonly SessionEvent[];
  missing: RecordingPage["missing"];
  at: number;
  onSeek(at: number): void;
}

/** What happened in the session, in words. */
export function Side({ session, story, events, missing, at, onSeek }: SideProps) {
  const tab = tabNow();
  const start = Date.parse(session.start);
  const requests = useMemo(() => requestsOf(session.parts, events), [session, events]);
  const rows: readonly { id: Tab; title: string; count?: number }[] = [
    { id: "transcript", title: "Transcript" },
    { id: "events", title: "Events", count: session.events },
    { id: "requests", title: "Requests", count: requests.length },
    { id: "parts", title: "Parts", count: session.recording?.parts ?? 0 },
  ];
  return (
    <aside class="session-side" aria-label="What happened">
      <Tabs
        label="About this session"
        current={tab}
        tabs={rows.map(({ id, title, count }) => ({
          id,
          title,
          count: count === undefined ? undefined : numberText(count),
          href: withParams({ tab: id === "transcript" ? undefined : id }),
        }))}
      />
      <Scrolled label={rows.find((it) => it.id === tab)?.title ?? ""} class="session-side-body">
        {tab === "transcript" && <Transcript story={story} at={at} onSeek={onSeek} />}
        {tab === "events" && <Events events={events} start={start} total={session.events} onSeek={onSeek} />}
        {tab === "requests" && <Requests requests={requests} start={start} />}
        {tab === "parts" && <Parts session={session} missing={missing} start={start} onSeek={onSeek} />}
      </Scrolled>
    </aside>
  );
}

const icons: Readonly<Partial<Record<Moment["kind"], IconName>>> = { click: "click", page: "page", input: "keyboard" };

const MomentIcon = ({ kind, event }: Moment) =>
  event ? <EventIcon name={event.event} /> : <Icon of={icons[kind] ?? "event"} />;

function MomentText({ kind, verb, name, text, isMasked }: Moment) {
  const isQuoted = kind === "click";
  return (
    <span class="session-said">
      {verb !== "" && `${verb} `}
      {name === "" ? (
        <span class="muted">an element that is not in the recording</span>
      ) : isQuoted ? (
        <q>{plain(name, 100)}</q>
      ) : (
        <b>{plain(name, 100)}</b>
      )}
      {text !== "" && " "}
      {isMasked ? (
        <span class="session-masked" title="The SDK masked it">
          {text}
        </span>
      ) : (
        plain(text, 200)
      )}
    </span>
  );
}

/** Pages, clicks, inputs, events and exceptions; the current one is marked, a click seeks. */
function Transcript({ story, at, onSeek }: { story: Story; at: number; onSeek(at: number): void }) {
  const { moments } = story;
  const current = momentAt(moments, at);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // scrolls the list alone: where it does not scroll, the recording must stay in sight
    const line = list.current?.children[current];
    const box = list.current?.parentElement;
    if (!(line instanceof HTMLElement) || !box) return;
    const [top, bottom] = [line.offsetTop - box.offsetTop, line.offsetTop - box.offsetTop + line.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }, [current]);
  const lines = useMemo(
    () =>
      moments.map((it, i) => (
        <li
          key={i}
          class={it.kind === "exception" ? "session-error" : i > current ? "session-later" : undefined}
          aria-current={i === current ? "true" : undefined}
        >
          <button type="button" class="session-line" onClick={() => onSeek(it.at)}>
            <span class="session-time">{offsetText(it.at)}</span>
            <MomentIcon {...it} />
            <MomentText {...it} />
          </button>
          {it.event && (
            <a href={link("events", [it.event.seq])} aria-label={`Event ${it.event.seq}`} title="The event">
              <Icon of="right" />
            </a>
          )}
        </li>
      )),
    [moments, current, onSeek],
  );
  if (moments.length === 0)
    return <p class="session-note muted">Nothing to list: no event, page, click or input is known.</p>;
  return (
    <ol class="session-transcript" ref={list}>
      {lines}
    </ol>
  );
}

function Events({ events, start, total, onSeek }: EventsProps) {
  return (
    <>
      <ol class="session-transcript">
        {events.slice(0, mostRows).map((it) => {
          const at = Date.parse(it.timestamp) - start;
          return (
            <li key={it.seq}>
              <button type="button" class="session-line" onClick={() => onSeek(at)}>
                <span class="session-time">{offsetText(at)}</span>
                <EventIcon name={it.event} />
                <span class="session-said">
                  <b>{plain(it.event, 80) || "(no name)"}</b> {plain(it.text, 120)}{" "}
                  {it.outcome === "dropped" && <OutcomeBadge of="dropped" code={it.reason ?? undefined} />}
                  {it.warnings.map((code) => (
                    <OutcomeBadge key={code} of="warned" code={code} />
                  ))}
                </span>
              </button>
              <a href={link("events", [it.seq])} aria-label={`Event ${it.seq}`} title="The event">
                <Icon of="right" />
              </a>
            </li>
          );
        })}
      </ol>
      {total > Math.min(mostRows, events.length) && (
        <p class="session-note muted">{`The first ${numberText(Math.min(mostRows, events.length))} of ${counted(total, "event")} are listed.`}</p>
      )}
    </>
  );
}

interface EventsProps {
  events: readonly SessionEvent[];
  start: number;
  total: number;
  onSeek(at: number): void;
}

/** A request that carried events of the session, or a part of its recording. */
interface CarryingRequest {
  readonly n: number;
  readonly at: number;
  events: number;
  bytes: number;
}

function requestsOf(parts: readonly SessionPart[], events: readonly SessionEvent[]): CarryingRequest[] {
  const found = new Map<number, CarryingRequest>();
  const at = (n: number, time: string) => {
    const known = found.get(n) ?? { n, at: Date.parse(time), events: 0, bytes: 0 };
    found.set(n, known);
    return known;
  };
  for (const { request, timestamp } of events) at(request, timestamp).events++;
  for (const { request, end, bytes } of parts) at(request, end).bytes += bytes;
  return [...found.values()].sort((a, b) => a.n - b.n);
}

const Requests = ({ requests, start }: { requests: readonly CarryingRequest[]; start: number }) => (
  <>
    <Table columns={["Request", "Until", ["Events", "cell-number"], ["Recording", "cell-number"]]}>
      {requests.slice(0, mostRows).map(({ n, at, events, bytes }) => (
        <tr key={n}>
          <td>
            <a href={link("requests", [n])}>{`#${n}`}</a>
          </td>
          <td class="mono">{offsetText(at - start)}</td>
          <td class="cell-number">{events === 0 ? "" : numberText(events)}</td>
          <td class="cell-number">{bytes === 0 ? "" : sizeText(bytes)}</td>
        </tr>
      ))}
    </Table>
    {requests.length > mostRows && <p class="session-note muted">{`The first ${numberText(mostRows)} are listed.`}</p>}
  </>
);

/** `3 mutation, 1 full`: what the events of a part hold, most frequent first. */
const kindsText = (kinds: SessionPart["kinds"]): string =>
  Object.entries(kinds)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${numberText(count)} ${kind}`)
    .join(", ");

function Parts({ session, missing, start, onSeek }: PartsProps) {
  const { parts, recording } = session;
  if (!recording) return <p class="session-note muted">This session has no recording.</p>;
  const minutes = Math.max(1, Date.parse(session.end) - start) / 60_000;
  const sums: Record<string, number> = {};
  for (const { kinds } of parts)
    for (const [kind, count] of Object.entries(kinds)) sums[kind] = (sums[kind] ?? 0) + count;
  return (
    <>
      <p class="session-note">
        {`${sizeText(recording.bytes)} in ${counted(recording.parts, "part")}`}
        {minutes >= 0.1 && ` · ${sizeText(recording.bytes / minutes)} per minute`}
        {` · ${kindsText(sums)}`}
      </p>
      {missing.length > 0 && (
        <ul class="session-note stack stack-tight" aria-label="What is missing">
          {missing.slice(0, 50).map(({ seq, reason, what, count }, i) => (
            <li key={i}>
              <a href={link("events", [seq])}>{`#${seq}`}</a>
              {` ${count > 1 ? `${numberText(count)} × ` : ""}${what}: ${lossReasons[reason]}`}
            </li>
          ))}
          {missing.length > 50 && <li class="muted">{`and ${numberText(missing.length - 50)} more`}</li>}
        </ul>
      )}
      <Table columns={["From", ["Size", "cell-number"], "Holds", "Event"]}>
        {parts.slice(0, mostRows).map((it) => {
          const at = Date.parse(it.start) - start;
          return (
            <tr key={it.seq}>
              <td>
                <Button kind="quiet" class="mono" onClick={() => onSeek(at)}>
                  {offsetText(at)}
                </Button>
              </td>
              <td class="cell-number">{sizeText(it.bytes)}</td>
              <td class="small">{kindsText(it.kinds)}</td>
              <td>
                <a href={link("events", [it.seq])}>{`#${it.seq}`}</a>
              </td>
            </tr>
          );
        })}
      </Table>
    </>
  );
}

interface PartsProps {
  session: StoredSessionDetails;
  missing: RecordingPage["missing"];
  start: number;
  onSeek(at: number): void;
}
