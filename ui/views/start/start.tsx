import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import { outcomeOf } from "../../../src/journal/outcomes.ts";
import { link, project } from "../../app/location.ts";
import { figureText, info, type Totals, useTotals } from "../../app/sim.ts";
import { type LiveRows, useLiveRows } from "../../feed/live-rows.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Empty, Section, Tiles, Time, Trouble } from "../../parts/basics.tsx";
import { nameTerm } from "../../parts/filter-box/filter-text.ts";
import { Table } from "../../parts/layout.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { plain } from "../../parts/text.ts";
import { Guide } from "./guide.tsx";
import { ProblemsFound } from "./problems.tsx";

/** The start page: setup instructions, and what arrived. */
export function StartView() {
  const { rows, problem } = useLiveRows<EventRow>({ kind: "events", filter: "", project: project.value });
  const count = useCount(rows);
  const isEmpty = count === 0;
  // shows nothing until the first page is loaded
  if (!rows) return <div class="start">{problem && <Trouble problem={problem} />}</div>;
  if (isEmpty && isGone()) return <NoProject />;
  return (
    <div class="start">
      {isEmpty && <Waiting />}
      {!isEmpty && <Received rows={rows} />}
      <ProblemsFound isAll={isEmpty && (stat.value?.events ?? 0) === 0} />
      <Guide title={isEmpty ? "Point your app here" : "Point another app here"} />
    </div>
  );
}

const isGone = (): boolean =>
  project.value !== undefined && info.value?.projects.every(({ id }) => id !== project.value) === true;

function NoProject() {
  return (
    <Empty title="Project not found">
      <p>
        Project {project.value} does not exist.{" "}
        <a href={link("start", [], { project: undefined })}>Show all projects</a>.
      </p>
    </Empty>
  );
}

function useCount(rows: LiveRows<EventRow> | undefined): number {
  void rows?.version.value;
  return rows?.count() ?? 0;
}

function Waiting() {
  const elsewhere = project.value === undefined ? 0 : (stat.value?.events ?? 0);
  return (
    <div class="stack start-waiting" role="status">
      <h2>Waiting for the first event</h2>
      <p class="muted">
        {elsewhere > 0 ? (
          <>
            No events in this project yet.{" "}
            <a href={link("start", [], { project: undefined })}>Other projects</a> have events.
          </>
        ) : (
          "This sim replaces PostHog: your SDK works unchanged, and this page shows what arrived, what was lost, and why. It updates with the first event."
        )}
      </p>
    </div>
  );
}

const latestShown = 8;

function Received({ rows }: { rows: LiveRows<EventRow> }) {
  const totals = useTotals({ project: project.value });
  const count = rows.count();
  const isFirst =
    count > 0 && count <= 100 && !rows.hasOlder.value && (totals?.events.total ?? count) <= count;
  const first = isFirst ? rows.at(count - 1) : undefined;
  const latest = Array.from({ length: Math.min(count, latestShown) }, (_, i) => rows.at(i));
  return <Arrived totals={totals} first={first} latest={latest.filter((it) => it !== undefined)} />;
}

const nameText = (text: string): string => (text === "" ? "(no name)" : plain(text, 80));
const idText = (text: string): string => (text === "" ? "(none)" : plain(text, 40));

const shownNames = 8;

interface ArrivedProps {
  totals: Totals | undefined;
  /** The very first event, if loaded. */
  first: EventRow | undefined;
  latest: readonly EventRow[];
}

/** What arrived and what was lost, with links. */
function Arrived({ totals, first, latest }: ArrivedProps) {
  return (
    <Section title="What arrived" actions={<a href={link("events")}>All events</a>}>
      {first && <First row={first} />}
      {totals && <Numbers totals={totals} />}
      <div class="start-columns">
        {totals && <Names events={totals.events} />}
        <Latest rows={latest} />
      </div>
    </Section>
  );
}

function First({ row }: { row: EventRow }) {
  return (
    <p class="start-first" role="status">
      <Badge tone="good">First event received</Badge>{" "}
      <a href={link("events", [row.seq])}>
        {nameText(row.event)} of {idText(row.distinct_id)}
      </a>{" "}
      <span class="muted">
        at <Time at={row.at} />
      </span>
    </p>
  );
}

function Numbers({ totals: { events, requests, persons } }: { totals: Totals }) {
  return (
    <Tiles
      rows={[
        {
          label: "kept",
          count: events.kept,
          text: figureText(events.kept, events.complete),
          href: link("events", [], { f: "is:kept,warned" }),
        },
        {
          label: "dropped",
          count: events.dropped,
          text: figureText(events.dropped, events.complete),
          tone: "bad",
          href: link("events", [], { f: "is:dropped" }),
        },
        {
          label: "requests rejected",
          count: requests.rejected,
          text: figureText(requests.rejected, requests.complete),
          tone: "outcome-rejected",
          href: link("requests", [], { f: "is:rejected" }),
        },
        { label: "persons", count: persons, href: link("people") },
      ]}
    />
  );
}

function Names({ events: { names, more_names, names_complete, complete } }: { events: Totals["events"] }) {
  const more = Math.max(0, names.length - shownNames) + more_names;
  return (
    <Table columns={["Event", ["Count", "number"], ["Last", "number"]]}>
      {names.slice(0, shownNames).map(({ event, count, last, last_at }) => (
        <tr key={event}>
          <td>
            <a href={link("events", [], { f: nameTerm(event) })}>{nameText(event)}</a>
          </td>
          <td class="number">{figureText(count, complete)}</td>
          <td class="number">{last_at === null ? `event ${last}` : <Time at={last_at} />}</td>
        </tr>
      ))}
      {more > 0 && (
        <tr>
          <td
            colSpan={3}
            class="muted"
          >{`and ${figureText(more, names_complete)} other ${more === 1 ? "name" : "names"}`}</td>
        </tr>
      )}
    </Table>
  );
}

function Latest({ rows }: { rows: readonly EventRow[] }) {
  return (
    <Table columns={["Latest", ["Distinct id", "start-sender"], "Outcome"]}>
      {rows.map((row) => (
        <tr key={row.seq}>
          <td>
            <a href={link("events", [row.seq])}>{nameText(row.event)}</a>
          </td>
          <td class="start-sender">{idText(row.distinct_id)}</td>
          <td>
            <OutcomeBadge of={outcomeOf(row)} code={row.reason ?? row.warnings[0]} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
