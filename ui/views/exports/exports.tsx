import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Export, ExportRun, ExportRunPage } from "../../../src/service/batch-exports/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, project, route } from "../../app/location.ts";
import type { Route } from "../../app/route.ts";
import { projectName, revision } from "../../app/sim.ts";
import { type Action, useAction } from "../../app/use-action.ts";
import { Badge, Code, Empty, Scrolled, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Split, Table, useCurrentInView } from "../../parts/layout.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { ClockBar } from "./clock-bar.tsx";
import { RunDetails } from "./run-details.tsx";
import { everyText, statusRow } from "./run-texts.ts";

const pageSize = 200;

/**
 * Batch exports, their runs and the clock: `#/exports`, `#/exports/<export>`, `#/exports/runs/<run>?export=<export>`;
 * `before=<run>` lists the runs before that one.
 */
export function ExportsView() {
  const turn = useSignal(0);
  const { problem, run } = useAction();
  const place = placeOf(route.value);
  const known = `${revision.value}/${turn.value}`;
  const exports = useResource<{ exports: Export[] }>(`exports${query({ project: project.value })}`, {
    revision: known,
    again: 2_000,
  });
  const wanted = { project: project.value, batch_export: place.export, before: place.before, limit: pageSize };
  const runsPath = `exports/runs${query(wanted)}`;
  const runs = useResource<ExportRunPage>(runsPath, { revision: known, again: 2_000 });
  const act: Action["run"] = async (change, onDone) => {
    await run(change, onDone);
    turn.value++;
  };
  const trouble = problem ?? exports.problem ?? runs.problem;
  const shown = runs.data?.runs ?? [];
  const hasRuns = shown.length > 0 || place.before !== undefined || (exports.data?.exports.length ?? 0) > 0;
  const close = () => go(linkTo({ ...place, run: undefined }));
  useRunKeys(shown, place, close);
  const list = (
    <Scrolled class="exports-scroll" label="Exports and their runs">
      <ClockBar exports={exports.data?.exports ?? []} act={act} />
      {trouble && <Trouble problem={trouble} />}
      {exports.data && <Exports exports={exports.data.exports} chosen={place.export} />}
      {hasRuns && <Runs runs={runs.data?.runs} hasMore={runs.data?.more === true} place={place} />}
    </Scrolled>
  );
  return (
    <Split
      label="Run"
      list={list}
      details={
        place.run === undefined ? undefined : <RunDetails key={place.run} id={place.run} revision={known} act={act} />
      }
      onClose={close}
    />
  );
}

function useRunKeys(runs: readonly ExportRun[], place: Place, onBack: () => void): void {
  const at = runs.findIndex(({ id }) => id === place.run);
  useKeys("Exports", [
    ...stepKeys("run", runs, at, ({ id }) => go(linkTo({ ...place, run: id }))),
    { keys: "Escape", does: "Back to the list", run: onBack },
  ]);
}

function Exports({ exports, chosen }: { exports: readonly Export[]; chosen: string | undefined }) {
  if (exports.length === 0) return <NoExports />;
  return (
    <Section title="Exports">
      <ul class="stack stack-wide exports-list">
        {exports.map((it) => (
          <li key={it.id} class="stack stack-tight card" aria-current={it.id === chosen ? "true" : undefined}>
            <header class="row">
              <a href={link("exports", it.id === chosen ? [] : [it.id])}>{plain(it.name) || "(no name)"}</a>
              {it.paused ? <Badge tone="odd">paused</Badge> : <Badge>{everyText(it.interval)}</Badge>}
              <span class="muted">
                {it.model} to {plain(it.destination)} · {plain(projectName(it.project))}
              </span>
            </header>
            <p class="row">
              <LastRuns runs={it.last_runs} />
              <span class="muted">
                {it.next_run === null ? (
                  "not scheduled"
                ) : (
                  <>
                    next <Time at={it.next_run} isWhole />
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

function LastRuns({ runs }: { runs: Export["last_runs"] }) {
  if (runs.length === 0) return <span class="muted">no run yet</span>;
  return (
    <span class="row row-tight">
      {runs.toReversed().map(({ id, status, data_interval_end }) => (
        <a
          key={id}
          href={link("exports", ["runs", id])}
          class={`exports-mark badge-${statusRow(status).tone}`}
          title={`${status}, up to ${data_interval_end}`}
          aria-label={`Run up to ${data_interval_end}: ${status}`}
        >
          <Icon of={statusRow(status).mark} />
        </a>
      ))}
    </span>
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
    <Empty title="No batch exports">
      <p>
        Create one with the management API, or write it into a scenario file. Its runs become due by the clock above,
        and write the captured events to files.
      </p>
      <Code label="In a scenario file, at the top or in a project" text={scenario} />
      <Code label="Or start with a scenario that has some" text="phx-sim start exports" />
    </Empty>
  );
}

interface Place {
  /** The export of the listed runs; undefined: all. */
  readonly export: string | undefined;
  readonly run: string | undefined;
  /** The list starts after this run (default: the newest). */
  readonly before: string | undefined;
}

function placeOf({ path: [first, second], params }: Route): Place {
  const { export: of, before } = params;
  return first === "runs" ? { export: of, run: second, before } : { export: first, run: undefined, before };
}

const linkTo = ({ export: of, run, before }: Place): string =>
  run === undefined
    ? link("exports", of === undefined ? [] : [of], { before })
    : link("exports", ["runs", run], { export: of, before });

interface RunsProps {
  /** undefined: loading. */
  runs: readonly ExportRun[] | undefined;
  hasMore: boolean;
  place: Place;
}

/** Runs, newest first, with links to older pages. */
function Runs({ runs, hasMore, place }: RunsProps) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef(place.before);
  useLayoutEffect(() => {
    if (shown.current === place.before) return;
    shown.current = place.before;
    box.current?.scrollIntoView({ block: "start" });
    box.current?.focus({ preventScroll: true });
  }, [place.before]);
  const last = hasMore ? runs?.at(-1)?.id : undefined;
  const older = last !== undefined && <a href={linkTo({ ...place, run: undefined, before: last })}>Older runs</a>;
  const newest = place.before !== undefined && (
    <a href={linkTo({ ...place, run: undefined, before: undefined })}>Newest runs</a>
  );
  const pages = (
    <span class="row row-wide">
      {place.export !== undefined && (
        <a href={linkTo({ export: undefined, run: undefined, before: undefined })}>Runs of all exports</a>
      )}
      {newest}
      {older}
    </span>
  );
  return (
    <div class="exports-all" ref={box} tabIndex={-1}>
      <Section title={newest ? "Older runs" : "Runs"} actions={pages}>
        {runs?.length === 0 && (
          <p class="muted">
            {newest ? "There are no older runs." : "No runs yet. Advance the clock by one interval to make one due."}
          </p>
        )}
        {runs && runs.length > 0 && <RunTable runs={runs} place={place} />}
        {older}
      </Section>
    </div>
  );
}

function RunTable({ runs, place }: { runs: readonly ExportRun[]; place: Place }) {
  const body = useCurrentInView<HTMLTableSectionElement>(place.run);
  return (
    <Scrolled label="Runs">
      <Table
        class="exports-table"
        columns={["Status", "Export", "Data up to", ["Records", "number"], ["Size", "number"]]}
        body={body}
      >
        {runs.map((it) => (
          <tr key={it.id} aria-current={it.id === place.run ? "true" : undefined}>
            <td>
              <a href={linkTo({ ...place, run: it.id })}>
                <Badge tone={statusRow(it.status).tone} mark={statusRow(it.status).mark}>
                  {it.status}
                </Badge>
              </a>
            </td>
            <td>
              {plain(it.name ?? "a deleted export")}
              {it.backfill !== null && <span class="muted"> · backfill</span>}
              {it.latest_error !== null && <p class="muted">{plain(it.latest_error)}</p>}
            </td>
            <td>
              <Time at={it.data_interval_end} isWhole />
            </td>
            <td class="number">{it.records_completed === null ? "–" : numberText(it.records_completed)}</td>
            <td class="number">{it.bytes_exported === null ? "–" : sizeText(it.bytes_exported)}</td>
          </tr>
        ))}
      </Table>
    </Scrolled>
  );
}
