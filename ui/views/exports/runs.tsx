import { useLayoutEffect, useRef } from "preact/hooks";
import { Badge, Section, Time } from "../../parts/basics.tsx";
import { numberText, plain, sizeText } from "../../parts/text.ts";
import type { Run } from "./answers.ts";
import { linkTo, type Place } from "./place.ts";
import { statusRow } from "./statuses.ts";

interface RunsProps {
  /** undefined: they are not known yet. */
  runs: readonly Run[] | undefined;
  /** There are older ones. */
  hasMore: boolean;
  place: Place;
}

/** Runs, newest first, as many as the sim was asked for; older ones are a step away. */
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
    <span class="exports-pages">
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
              ? "None is older."
              : "No run yet. Advance the clock by an interval, and the next one is due."}
          </p>
        )}
        {runs && runs.length > 0 && <Table runs={runs} place={place} />}
        {older}
      </Section>
    </div>
  );
}

function Table({ runs, place }: { runs: readonly Run[]; place: Place }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    body.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [place.run]);
  return (
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
      <tbody ref={body}>
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
              {plain(it.name ?? "an export that is gone")}
              {it.backfill !== null && <span class="muted"> · backfill</span>}
              {it.latest_error !== null && <p class="muted">{plain(it.latest_error)}</p>}
            </td>
            <td>
              <Time at={Date.parse(it.data_interval_end)} isWhole />
            </td>
            <td class="number">{it.records_completed === null ? "–" : numberText(it.records_completed)}</td>
            <td class="number">{it.bytes_exported === null ? "–" : sizeText(it.bytes_exported)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
