import { useRef, useState } from "preact/hooks";
import type { StoredSession, StoredSessionPage } from "../../../src/lab/sessions/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { useCounted } from "../../app/sim.ts";
import { Badge, Empty, Time, Trouble } from "../../parts/basics.tsx";
import { CheckField } from "../../parts/fields.tsx";
import { counted, numberText, plain, shortId, sizeText } from "../../parts/text.ts";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import { SessionPage } from "./session-page.tsx";
import { offsetText, pathOf } from "./story.ts";

/** At `#/sessions/ID` a session, otherwise the list. */
export function SessionsView() {
  const [id] = route.value.path;
  return id === undefined ? <SessionList /> : <SessionPage key={id} id={id} />;
}

const hrefOf = ({ id, project: of }: StoredSession): string => link("sessions", [id], { in: of ?? undefined });

/** The most sessions that are listed. */
const most = 1_000;

function SessionList() {
  const { q, person, recorded } = route.value.params;
  const [limit, setLimit] = useState(100);
  const wanted = { project: project.value, search: q, person, recorded, limit };
  const { data, problem } = useCounted<StoredSessionPage>(`sessions${query(wanted)}`, (it) => it.reading);
  const page = useLast(data);
  const sessions = page?.sessions ?? [];
  const box = useRef<HTMLInputElement>(null);
  const [active, setActive] = useState(-1);
  useKeys("Sessions", [
    { keys: "/", does: "Search", run: () => box.current?.focus() },
    ...stepKeys("session", sessions, active, (it) => setActive(sessions.indexOf(it))),
  ]);
  const isFiltered = q !== undefined || person !== undefined || recorded !== undefined;
  return (
    <div class="sessions">
      <h1 class="unseen">Sessions</h1>
      <div class="row toolbar">
        <input
          class="input"
          type="search"
          ref={box}
          value={q ?? ""}
          aria-label="Search sessions"
          placeholder="Search by session id or distinct id"
          onInput={(event) => go(withParams({ q: event.currentTarget.value || undefined }), true)}
        />
        <CheckField
          label="With a recording"
          isChecked={recorded === "true"}
          onChange={(it) => go(withParams({ recorded: it ? "true" : undefined }), true)}
        />
        {person !== undefined && (
          <span class="row row-tight">
            <Badge>{`person ${plain(person, 60)}`}</Badge>
            <a class="small" href={withParams({ person: undefined })}>
              All persons
            </a>
          </span>
        )}
        {page && !page.complete && (
          <span class="muted small end" role="status">
            {page.reading ? "Older events are still being read" : "Older sessions are not known any more"}
          </span>
        )}
      </div>
      {problem && <Trouble problem={problem} />}
      {page && sessions.length === 0 && (isFiltered ? <Empty title="No sessions match" /> : <NoSession />)}
      {sessions.length > 0 && (
        <WindowedList
          class="sessions-list"
          label="Sessions"
          head={
            <>
              <HeadCell>Started</HeadCell>
              <HeadCell class="cell-number">Length</HeadCell>
              <HeadCell>Person</HeadCell>
              <HeadCell class="sessions-wide">First page</HeadCell>
              <HeadCell class="cell-number">Events</HeadCell>
              <HeadCell class="cell-number sessions-wide">Exceptions</HeadCell>
              <HeadCell class="cell-number">Recording</HeadCell>
              <HeadCell class="sessions-wide">Browser</HeadCell>
            </>
          }
          count={sessions.length}
          at={(index) => sessions[index]}
          keyOf={({ project: of, id }) => `${of} ${id}`}
          cellsOf={(it) => <SessionCells session={it} />}
          chosen={-1}
          active={active}
          onActive={(it) => setActive(sessions.indexOf(it))}
          onChoose={(it) => go(hrefOf(it))}
          {...(page?.more && limit < most && { onNearEnd: () => setLimit((it) => Math.min(most, it * 2)) })}
        />
      )}
    </div>
  );
}

const NoSession = () => (
  <Empty title="No session yet">
    <p>
      Events of posthog-js and of the mobile SDKs carry a <code>$session_id</code>: each appears here, with its
      recording if there is one. To record, set <code>sessionRecording: true</code> in the project’s{" "}
      <code>remote_config</code>.
    </p>
  </Empty>
);

function SessionCells({ session }: { session: StoredSession }) {
  const { start, end, distinct_ids: ids, url, events, exceptions, recording, browser, viewport } = session;
  return (
    <>
      <Cell>
        <a href={hrefOf(session)} tabIndex={-1} title={plain(session.id)} onClick={(event) => event.stopPropagation()}>
          <Time at={start} isWhole />
          <span class="unseen">{` session ${shortId(session.id)}`}</span>
        </a>
      </Cell>
      <Cell class="cell-number">{offsetText(Date.parse(end) - Date.parse(start), true)}</Cell>
      <Cell>
        {plain(ids[0] ?? "", 80) || <span class="muted">(no id)</span>}
        {ids.length > 1 && <span class="muted">{` +${counted(ids.length - 1, "id")}`}</span>}
      </Cell>
      <Cell class="sessions-wide mono muted">{url === null ? "" : plain(pathOf(url), 120)}</Cell>
      <Cell class="cell-number">{numberText(events)}</Cell>
      <Cell class={`cell-number sessions-wide${exceptions > 0 ? " outcome-dropped" : ""}`}>
        {exceptions === 0 ? "" : numberText(exceptions)}
      </Cell>
      <Cell class="cell-number">
        {recording === null ? <span class="faint">none</span> : sizeText(recording.bytes)}
      </Cell>
      <Cell class="sessions-wide muted">
        {[browser === null ? "" : plain(browser, 30), viewport ? `${viewport.width} × ${viewport.height}` : ""]
          .filter(Boolean)
          .join(" · ")}
      </Cell>
    </>
  );
}
