import { useSignal } from "@preact/signals";
import { query, type SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { go, link, project, route } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { Badge, Code, Empty, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/split.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import type { Run, ShownExport } from "./answers.ts";
import { ClockBar } from "./clock-bar.tsx";
import { RunDetails } from "./run-details.tsx";
import { statusRow } from "./statuses.ts";
import { everyText } from "./words.ts";

/** Batch exports and their runs, with the clock that makes them due: `#/exports`, `#/exports/<export>`, `#/exports/runs/<run>`. */
export function ExportsView() {
  const turn = useSignal(0);
  const problem = useSignal<SimProblem | undefined>(undefined);
  const [first, second] = route.value.path;
  const chosenRun = first === "runs" ? second : undefined;
  const chosenExport = first === "runs" ? route.value.params.export : first;
  const known = `${revision.value}/${turn.value}`;
  const exports = useResource<{ exports: ShownExport[] }>(`exports${query({ project: project.value })}`, {
    revision: known,
    every: 2_000,
  });
  const runsPath = `exports/runs${query({ project: project.value, batch_export: chosenExport, limit: 200 })}`;
  const runs = useResource<{ runs: Run[]; more: boolean }>(runsPath, { revision: known, every: 2_000 });
  const onChanged = (failed?: SimProblem) => {
    problem.value = failed;
    turn.value++;
  };
  const trouble = problem.value ?? exports.problem ?? runs.problem;
  const list = (
    <div class="exports-scroll">
      <ClockBar exports={exports.data?.exports ?? []} onChanged={onChanged} />
      {trouble && <Trouble problem={trouble} />}
      {exports.data && <Exports exports={exports.data.exports} chosen={chosenExport} />}
      {exports.data && exports.data.exports.length > 0 && (
        <Runs
          runs={runs.data?.runs ?? []}
          hasMore={runs.data?.more === true}
          chosen={chosenRun}
          of={chosenExport}
        />
      )}
    </div>
  );
  const close = () => go(link("exports", chosenExport === undefined ? [] : [chosenExport]));
  return (
    <Split
      label="Run"
      list={list}
      details={
        chosenRun === undefined ? undefined : (
          <RunDetails key={chosenRun} id={chosenRun} revision={known} onChanged={onChanged} />
        )
      }
      onClose={close}
    />
  );
}

function Exports({ exports, chosen }: { exports: readonly ShownExport[]; chosen: string | undefined }) {
  if (exports.length === 0) return <NoExports />;
  return (
    <Section title="Exports">
      <ul class="exports-list">
        {exports.map((it) => (
          <li key={it.id} aria-current={it.id === chosen ? "true" : undefined}>
            <header>
              <a href={link("exports", it.id === chosen ? [] : [it.id])}>{plain(it.name) || "(no name)"}</a>
              {it.paused ? (
                <Badge tone="odd">paused</Badge>
              ) : (
                <Badge tone="good">{everyText(it.interval)}</Badge>
              )}
              <span class="muted">
                {it.model} to {plain(it.destination)} · {plain(projectName(it.project))}
              </span>
            </header>
            <p class="exports-runs">
              <LastRuns runs={it.last_runs} />
              <span class="muted">
                {it.next_run === null ? (
                  "nothing planned"
                ) : (
                  <>
                    next <Time at={Date.parse(it.next_run)} isWhole />
                  </>
                )}
              </span>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function LastRuns({ runs }: { runs: ShownExport["last_runs"] }) {
  if (runs.length === 0) return <span class="muted">no run yet</span>;
  return (
    <span class="exports-marks">
      {runs.toReversed().map(({ id, status, data_interval_end }) => (
        <a
          key={id}
          href={link("exports", ["runs", id])}
          class={`exports-mark badge-${statusRow(status).tone}`}
          title={`${status}, up to ${data_interval_end}`}
          aria-label={`Run up to ${data_interval_end}: ${status}`}
        >
          {statusRow(status).mark}
        </a>
      ))}
    </span>
  );
}

interface RunsProps {
  runs: readonly Run[];
  hasMore: boolean;
  chosen: string | undefined;
  of: string | undefined;
}

function Runs({ runs, hasMore, chosen, of }: RunsProps) {
  return (
    <Section title="Runs">
      {runs.length === 0 ? (
        <p class="muted">No run yet. Advance the clock by an interval, and the next one is due.</p>
      ) : (
        <table class="table exports-table">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Export</th>
              <th scope="col">Data up to</th>
              <th scope="col" class="number">
                Records
              </th>
              <th scope="col" class="number">
                Size
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.map((it) => (
              <tr key={it.id} aria-current={it.id === chosen ? "true" : undefined}>
                <td>
                  <a href={link("exports", ["runs", it.id], { export: of })}>
                    <Badge tone={statusRow(it.status).tone} isMarked={false}>
                      {statusRow(it.status).mark} {it.status}
                    </Badge>
                  </a>
                </td>
                <td>
                  {plain(it.name ?? "an export that is gone")}
                  {it.backfill !== null && <span class="muted"> · backfill</span>}
                  {it.latest_error !== null && <p class="muted">{plain(it.latest_error)}</p>}
                </td>
                <td>
                  <Time at={Date.parse(it.data_interval_end)} isWhole />
                </td>
                <td class="number">
                  {it.records_completed === null ? "–" : numberText(it.records_completed)}
                </td>
                <td class="number">{it.bytes_exported === null ? "–" : sizeText(it.bytes_exported)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hasMore && <p class="muted">Older runs are not shown; phx-sim exports list has them.</p>}
    </Section>
  );
}

const scenario = `"batch_exports": [
  {
    "name": "Hourly",
    "interval": "hour",
    "destination": { "type": "S3", "config": { "bucket_name": "b", "region": "us-east-1", "prefix": "p" } }
  }
]`;

function NoExports() {
  return (
    <Empty title="There are no batch exports here">
      <p>
        Make one with the management API, or write it into a scenario file. Its runs become due by the clock
        above, and really write the captured events into files.
      </p>
      <Code label="In a scenario file, in a project" text={scenario} />
      <Code label="Or a world that has some" text="phx-sim start exports" />
    </Empty>
  );
}
