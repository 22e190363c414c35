import { useLayoutEffect, useRef } from "preact/hooks";
import type { ExportRun } from "../../../src/exports/shapes.ts";
import { link } from "../../app/location.ts";
import type { Route } from "../../app/route.ts";
import { Badge, Section, Time } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import { statusRow } from "./run-texts.ts";

export interface Place {
  /** The export whose runs are listed; undefined: all. */
  readonly export: string | undefined;
  readonly run: string | undefined;
  /** The list starts after this run (default: the newest). */
  readonly before: string | undefined;
}

export function placeOf({ path: [first, second], params }: Route): Place {
  const { export: of, before } = params;
  return first === "runs" ? { export: of, run: second, before } : { export: first, run: undefined, before };
}

export const linkTo = ({ export: of, run, before }: Place): string =>
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
export function Runs({ runs, hasMore, place }: RunsProps) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef(place.before);
  useLayoutEffect(() => {
    if (shown.current === place.before) return;
    shown.current = place.before;
    box.current?.scrollIntoView({ block: "start" });
    box.current?.focus({ preventScroll: true });
  }, [place.before]);
  const last = hasMore ? runs?.at(-1)?.id : undefined;
  const older = last !== undefined && (
    <a href={linkTo({ ...place, run: undefined, before: last })}>Older runs</a>
  );
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
            {newest
              ? "There are no older runs."
              : "No runs yet. Advance the clock by one interval to make one due."}
          </p>
        )}
        {runs && runs.length > 0 && <RunTable runs={runs} place={place} />}
        {older}
      </Section>
    </div>
  );
}

function RunTable({ runs, place }: { runs: readonly ExportRun[]; place: Place }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    body.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [place.run]);
  return (
    <Table
      class="exports-table"
      columns={["Status", "Export", "Data up to", ["Records", "number"], ["Size", "number"]]}
      body={body}
    >
      {runs.map((it) => (
        <tr key={it.id} aria-current={it.id === place.run ? "true" : undefined}>
          <td>
            <a href={linkTo({ ...place, run: it.id })}>
              <Badge tone={statusRow(it.status).tone} isMarked={false}>
                {statusRow(it.status).mark} {it.status}
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
  );
}
