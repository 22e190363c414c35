import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import { link, project } from "../../app/location.ts";
import { info, useTotals } from "../../app/sim.ts";
import { type LiveRows, useLiveRows } from "../../feed/live-rows.ts";
import { stat } from "../../feed/socket.ts";
import { Empty, Trouble } from "../../parts/basics.tsx";
import { Arrived } from "./arrived.tsx";
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
      {!isEmpty && <Came rows={rows} />}
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

function Came({ rows }: { rows: LiveRows<EventRow> }) {
  const totals = useTotals({ project: project.value });
  const count = rows.count();
  const isFirst =
    count > 0 && count <= 100 && !rows.hasOlder.value && (totals?.events.total ?? count) <= count;
  const first = isFirst ? rows.at(count - 1) : undefined;
  const latest = Array.from({ length: Math.min(count, latestShown) }, (_, i) => rows.at(i));
  return <Arrived totals={totals} first={first} latest={latest.filter((it) => it !== undefined)} />;
}
