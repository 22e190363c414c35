import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { recordedTypes } from "../../../src/lab/sessions/rrweb.ts";
import type { SessionEvent, SessionEventPage, StoredSessionDetails } from "../../../src/lab/sessions/shapes.ts";
import { call, query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { link, project, route } from "../../app/location.ts";
import { revision } from "../../app/sim.ts";
import { Button, CopyButton, Empty, Time, Trouble } from "../../parts/basics.tsx";
import { CheckField } from "../../parts/fields.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Fix } from "../../parts/outcome.tsx";
import { clockText, counted, numberText, plain, shortId, sizeText } from "../../parts/text.ts";
import { Lanes } from "./lanes.tsx";
import { Side } from "./side.tsx";
import { offsetText, type RecordedWindow, storyOf } from "./story.ts";
import { type Player, usePlayer } from "./use-player.ts";
import { type Recording, useRecording } from "./use-recording.ts";

/** The most events that the page loads. */
const mostEvents = 5_000;

/** The session in the address, with its recording. */
export function SessionPage({ id }: { id: string }) {
  const place = query({ project: route.value.params.in ?? project.value });
  const path = `sessions/${encodeURIComponent(id)}`;
  const loaded = useResource<StoredSessionDetails>(path + place, { revision: revision.value });
  const session = useLast(loaded.data);
  const events = useEvents(path, place, session?.last_seq);
  if (!session || loaded.problem?.code === "not_found")
    return loaded.problem ? (
      <div class="session-lost">
        <Trouble problem={loaded.problem} />
        <p>
          <a href={link("sessions")}>All sessions</a>
        </p>
      </div>
    ) : (
      <p class="muted session-note">Loading the session</p>
    );
  return <Session key={session.id} session={session} events={events} />;
}

/** The events of the session, page by page; loaded again when new ones came. */
function useEvents(path: string, place: string, lastSeq: number | undefined): readonly SessionEvent[] {
  const [events, setEvents] = useState<readonly SessionEvent[]>([]);
  useEffect(() => {
    if (lastSeq === undefined) return;
    const aborter = new AbortController();
    async function load(): Promise<void> {
      const found: SessionEvent[] = [];
      for (let offset: number | null = 0; offset !== null && found.length < mostEvents; ) {
        const at: string = `${path}/events${place === "" ? "?" : `${place}&`}offset=${offset}`;
        const page: SessionEventPage = await call("GET", at, undefined, aborter.signal);
        found.push(...page.events);
        offset = page.next;
      }
      if (!aborter.signal.aborted) setEvents(found);
    }
    // the page says itself when the sim does not respond
    load().catch(() => {});
    return () => aborter.abort();
  }, [path, place, lastSeq]);
  return events;
}

/** `at` (ms from the start) or `t` (ms since 1970) of the address. */
function momentIn(session: StoredSessionDetails): number {
  const { at, t } = route.value.params;
  const given = at !== undefined ? Number(at) : t !== undefined ? Number(t) - Date.parse(session.start) : 0;
  return Number.isFinite(given) ? Math.max(0, given) : 0;
}

function Session({ session, events }: { session: StoredSessionDetails; events: readonly SessionEvent[] }) {
  const recording = useRecording(session);
  const [chosen, setChosen] = useState<string>();
  const start = Date.parse(session.start);
  const shown = recording.windows.find((it) => it.id === chosen) ?? recording.windows[0];
  const story = useMemo(
    () => storyOf(start, Date.parse(session.end), events, recording.windows),
    [start, session.end, events, recording.windows],
  );
  const given = momentIn(session);
  const player = usePlayer(shown, start, story.length, given);
  // a link to another moment of the same session
  useEffect(() => {
    if (given > 0) player.seek(given);
  }, [given]);
  const seek = useCallback((at: number) => player.seek(at), [player.seek]);
  useKeys("Session", [
    { keys: " ", does: "Play or pause", run: player.toggle },
    { keys: "ArrowLeft", does: "5 s back", run: () => player.seek(player.at - 5_000) },
    { keys: "ArrowRight", does: "5 s forward", run: () => player.seek(player.at + 5_000) },
    { keys: "Home", does: "To the start", run: () => player.seek(0) },
  ]);
  const path = story.pages.findLast((it) => it.from <= player.at)?.url;
  return (
    <div class="session">
      <Head session={session} player={player} />
      <section class="session-stage" aria-label="Recording">
        <Notes session={session} recording={recording} player={player} shown={shown} />
        <Screen session={session} recording={recording} player={player} address={path} />
        <Controls session={session} player={player} length={story.length} hasRecording={shown !== undefined}>
          <Windows recording={recording} shown={shown} onChoose={setChosen} />
        </Controls>
        <Lanes story={story} parts={session.parts} start={start} at={player.at} onSeek={seek} />
      </section>
      <Side
        session={session}
        story={story}
        events={events}
        missing={[...recording.missing]}
        at={player.at}
        onSeek={seek}
      />
    </div>
  );
}

function Head({ session, player }: { session: StoredSessionDetails; player: Player }) {
  const { id, distinct_ids: ids, browser, viewport, recording } = session;
  const facts = [
    browser === null ? undefined : plain(browser, 40),
    viewport === null ? undefined : `${viewport.width} × ${viewport.height}`,
    recording === null ? "no recording" : `${sizeText(recording.bytes)} in ${counted(recording.parts, "part")}`,
  ];
  const here = () => {
    const hash = link("sessions", [id], { at: Math.round(player.at) });
    return `${location.origin}${location.pathname}${hash}`;
  };
  const [person] = ids;
  return (
    <header class="row toolbar session-head">
      <a class="button button-quiet" href={link("sessions")}>
        <Icon of="left" />
        Sessions
      </a>
      <h1 title={plain(id)}>{`Session ${shortId(id)}`}</h1>
      <span class="small muted session-facts">
        started <Time at={session.start} />
        {person !== undefined && (
          <>
            {" · "}
            <a href={link("people", [person], { in: session.project ?? undefined })}>
              {plain(person, 60) || "(no id)"}
            </a>
          </>
        )}
        {facts.filter((it) => it !== undefined).map((it) => ` · ${it}`)}
      </span>
      <span class="row end">
        <a class="button" href={link("events", [], { f: `prop.$session_id:"${id.replace(/["\\]/g, "")}"` })}>
          <Icon of="events" />
          {counted(session.events, "event")}
        </a>
        <CopyButton label={`Copy link to ${offsetText(player.at, true)}`} text={here} />
      </span>
    </header>
  );
}

const hasFull = (shown: RecordedWindow | undefined): boolean =>
  shown?.events.some((it) => it.type === recordedTypes.full) === true;

/** What is missing in the recording, and why. */
function Notes({ session, recording, player, shown }: NotesProps) {
  const { missing, windows, isLoading, isCut, problem, parts } = recording;
  const total = session.recording?.parts ?? 0;
  const startsLate = shown !== undefined && shown.events.find((it) => it.type < 4)?.type !== recordedTypes.full;
  const lost = missing.reduce((sum, it) => sum + it.count, 0);
  const notes = [
    shown && !isLoading && !hasFull(shown)
      ? "The recording has no full snapshot: nothing can be drawn. Pages, clicks and inputs are listed."
      : shown && startsLate && windows.length > 0
        ? "The recording starts without a full snapshot: nothing is drawn before the first one."
        : undefined,
    lost > 0 ? `${counted(lost, "piece")} of the recording cannot be read: see Parts.` : undefined,
    isCut ? `Only the first ${counted(parts, "part")} are loaded: the recording is very large.` : undefined,
    session.unlisted > 0 ? `${numberText(session.unlisted)} events or parts are only counted.` : undefined,
    session.recording && session.recording.source !== "web"
      ? `A ${plain(session.recording.source, 20)} recording: its pictures cannot be drawn here.`
      : undefined,
    player.failure === undefined ? undefined : `The player stopped: ${plain(player.failure, 200)}`,
  ].filter((it) => it !== undefined);
  const later = isLoading || isCut ? 0 : total - parts;
  return (
    <>
      {problem && <Trouble problem={problem} />}
      {notes.length > 0 && (
        <ul class="callout callout-warned session-notes" aria-label="What is missing">
          {notes.map((it) => (
            <li key={it}>{it}</li>
          ))}
        </ul>
      )}
      {parts > 0 && later > 0 && session.unlisted === 0 && (
        <p class="session-note">
          <Button onClick={recording.loadMore}>{`Load ${counted(later, "new part")}`}</Button>
        </p>
      )}
    </>
  );
}

interface NotesProps {
  session: StoredSessionDetails;
  recording: Recording;
  player: Player;
  shown: RecordedWindow | undefined;
}

function Screen({ session, recording, player, address }: ScreenProps) {
  if (!session.recording)
    return (
      <div class="session-screen">
        <Empty title="This session has no recording">
          <p>
            <Fix text="switch recordings on in the project’s remote config: `sessionRecording: true`, and leave `disable_session_recording` out of `posthog.init`" />
          </p>
          <p class="muted">Its events are in the lanes and in the transcript.</p>
        </Empty>
      </div>
    );
  const { size, unloaded } = player;
  return (
    <div class="session-screen">
      <div class="session-window">
        <div class="session-bar">
          <span class="cut">{plain(address ?? "", 200)}</span>
          <span class="end">
            {unloaded > 0 && (
              <span title="Images, styles and frames by URL stay unloaded: a recording connects to nothing">
                {`${numberText(unloaded)} not loaded · `}
              </span>
            )}
            {size ? `${Math.round(size.scale * 100)} %` : ""}
          </span>
        </div>
        <div class="session-page" style={size && { aspectRatio: `${size.width} / ${size.height}` }}>
          {recording.isLoading && (
            <p class="session-note muted" role="status">
              {`Loading: ${numberText(recording.parts)} of ${counted(session.recording.parts, "part")}`}
            </p>
          )}
          <iframe
            ref={player.frame}
            src="/__sim/player"
            title="The recorded page"
            sandbox="allow-scripts allow-same-origin"
            tabIndex={-1}
          />
        </div>
      </div>
    </div>
  );
}

interface ScreenProps {
  session: StoredSessionDetails;
  recording: Recording;
  player: Player;
  address: string | undefined;
}

const speeds = [1, 2, 4] as const;

function Controls({ session, player, length, hasRecording, children }: ControlsProps) {
  const { at, isPlaying, speed, skipsIdle } = player;
  return (
    <div class="row session-controls">
      <Button kind="main" disabled={!hasRecording} onClick={player.toggle} title="Play or pause (space)">
        <Icon of={isPlaying ? "pause" : "play"} />
        {isPlaying ? "Pause" : "Play"}
      </Button>
      <Button kind="quiet" onClick={() => player.seek(at - 10_000)} aria-label="Back ten seconds" title="Back 10 s">
        <Icon of="back" />
      </Button>
      <b class="session-now">{offsetText(at)}</b>
      <span class="muted session-now">{`of ${offsetText(length)} · ${clockText(Date.parse(session.start) + at)}`}</span>
      <span class="row end">
        {children}
        <fieldset class="session-speeds" aria-label="Speed">
          {speeds.map((it) => (
            <button
              key={it}
              type="button"
              class="session-speed"
              aria-pressed={it === speed}
              onClick={() => player.set({ speed: it })}
            >
              {`${it}×`}
            </button>
          ))}
        </fieldset>
        <CheckField label="Skip idle" isChecked={skipsIdle} onChange={(it) => player.set({ skipsIdle: it })} />
      </span>
    </div>
  );
}

interface ControlsProps {
  session: StoredSessionDetails;
  player: Player;
  length: number;
  hasRecording: boolean;
  children: ComponentChildren;
}

/** Which tab of the browser is shown, if the session has several. */
function Windows({ recording: { windows }, shown, onChoose }: WindowsProps) {
  if (windows.length < 2) return null;
  return (
    <select
      class="select"
      aria-label="Browser tab"
      value={shown?.id}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {windows.slice(0, 50).map(({ id }, i) => (
        <option key={id} value={id}>
          {`Tab ${i + 1} of ${windows.length}`}
        </option>
      ))}
    </select>
  );
}

interface WindowsProps {
  recording: Recording;
  shown: RecordedWindow | undefined;
  onChoose(id: string): void;
}
