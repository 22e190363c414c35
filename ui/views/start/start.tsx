import type { EventRow } from "../../../src/model/row.ts";
import { link, project } from "../../app/location.ts";
import { info } from "../../app/sim.ts";
import { useTotals } from "../../app/totals.ts";
import { stat } from "../../feed/socket.ts";
import { type LiveRows, useLiveRows } from "../../feed/use-live-rows.ts";
import { Empty, Trouble } from "../../parts/basics.tsx";
import { Arrived } from "./arrived.tsx";
import { Guide } from "./guide.tsx";
import { ProblemsFound } from "./problems.tsx";

/** The first page: what to paste where, and then what came of it. */
export function StartView() {
  const { rows, problem } = useLiveRows<EventRow>({ kind: "events", filter: "", project: project.value });
  const count = useCount(rows);
  const isEmpty = count === 0;
  // until it is known whether anything came, nothing is said that may be wrong a moment later
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

/** The address names a project that the sim does not have. */
const isGone = (): boolean =>
  project.value !== undefined && info.value?.projects.every(({ id }) => id !== project.value) === true;

function NoProject() {
  return (
    <Empty title="There is no such project">
      <p>
        The address names project {project.value}, which is not there, or not any more.{" "}
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
    <div class="start-waiting" role="status">
      <h2>Waiting for the first event</h2>
      <p class="muted">
        {elsewhere > 0 ? (
          <>
            Nothing came to this project yet.{" "}
            <a href={link("start", [], { project: undefined })}>Other projects</a> have events.
          </>
        ) : (
          "This sim stands in for PostHog: your SDK talks to it as it is, and you see here what arrived, what was lost, and why. This page turns live with the first event."
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
