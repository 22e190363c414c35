import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { RequestRow } from "../../../src/state/journal/feed/feed-row.ts";
import { late } from "../../app/late-view.tsx";
import { MissedRows, useListKeys } from "../../app/live-list.tsx";
import { go, project, route, withParams } from "../../app/location.ts";
import { hrefTo, numberIn } from "../../app/route.ts";
import { info, projectKey } from "../../app/sim.ts";
import { type LiveRows, useLiveRows } from "../../feed/live-rows.ts";
import { Button, Code, Empty, Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/layout.tsx";
import { WindowedList } from "../../parts/windowed-list.tsx";
import type { DetailsProps } from "./details.tsx";
import { stepFrom } from "./list-filter.ts";
import { cellsOf, headOf } from "./row.tsx";
import { timeOf } from "./row-texts.ts";
import { Toolbar } from "./toolbar.tsx";

/** Rarely needed, so loaded late. */
const HarDialog = late(async () => (await import("./har-dialog.tsx")).HarDialog);

const openRequest = (n: number, isReplacing = false): void =>
  go(hrefTo("requests", [n], route.value.params), isReplacing);

const closeRequest = (): void => go(hrefTo("requests", [], route.value.params));

/** The live list of requests: `#/requests?f=…`, `#/requests/12`. */
export function RequestsView({ Details }: { Details: ComponentType<DetailsProps> }) {
  const { path, params } = route.value;
  const filter = params.f ?? "";
  const opened = numberIn(path[0]);
  const { rows, problem } = useLiveRows<RequestRow>({ kind: "requests", filter, project: project.value });
  const cursor = useSignal(opened);
  const [isHarOpen, setHarOpen] = useState(false);
  if (opened !== undefined && cursor.peek() !== opened) cursor.value = opened;
  useListKeys({
    title: "Requests",
    noun: "request",
    rows,
    numberOf: (row) => row.n,
    opened,
    cursor,
    list: ".requests-list .list-body",
    open: openRequest,
    close: closeRequest,
    more: [],
  });
  return (
    <Split
      label="The request"
      onClose={closeRequest}
      details={opened === undefined ? undefined : <Opened n={opened} rows={rows} Details={Details} />}
      list={
        <div class="requests">
          <Toolbar filter={filter} rows={problem ? undefined : rows} onHar={() => setHarOpen(true)} />
          {problem && <Trouble problem={problem} />}
          {rows && !problem && <Rows rows={rows} chosen={cursor.value} filter={filter} />}
          {isHarOpen && <HarDialog filter={filter} onClose={() => setHarOpen(false)} />}
        </div>
      }
    />
  );
}

interface OpenedProps {
  n: number;
  rows: LiveRows<RequestRow> | undefined;
  Details: ComponentType<DetailsProps>;
}

function Opened({ n, rows, Details }: OpenedProps) {
  void rows?.version.value;
  const beside = (by: number): (() => void) | undefined => {
    const next = rows && rows.indexOf(n) !== -1 ? stepFrom(rows, n, by) : undefined;
    return next === undefined ? undefined : () => openRequest(next, true);
  };
  return <Details n={n} onNewer={beside(-1)} onOlder={beside(1)} />;
}

interface RowsProps {
  rows: LiveRows<RequestRow>;
  chosen: number | undefined;
  filter: string;
}

const drawnRows = (rows: LiveRows<RequestRow>, first: number, end: number): RequestRow[] =>
  Array.from({ length: end - first }, (_, i) => rows.at(first + i)).filter((it) => it !== undefined);

function Rows({ rows, chosen, filter }: RowsProps) {
  void rows.version.value;
  const problem = rows.problem.value;
  const [[first, end], setDrawn] = useState<readonly [first: number, end: number]>([0, 50]);
  const drawn = useCallback((from: number, to: number) => setDrawn([from, to]), []);
  const shown = timeOf(drawnRows(rows, first, end));
  const hasTests = drawnRows(rows, first, end).some((it) => it.partition !== null);
  if (rows.count() === 0 && !rows.isLoading.value && !rows.hasOlder.value && !problem)
    return filter === "" && project.value === undefined ? <FirstRequests /> : <NoneSuits filter={filter} />;
  return (
    <>
      {problem && <Trouble problem={problem} />}
      <MissedRows rows={rows} class="row requests-missing" />
      <WindowedList
        class={hasTests ? "requests-list requests-tested" : "requests-list"}
        label="Requests, the newest first"
        count={rows.count()}
        head={headOf(hasTests)}
        at={rows.at}
        keyOf={({ n }) => n}
        cellsOf={(row) => cellsOf(row, shown, hasTests)}
        onDrawn={drawn}
        classOf={({ outcome }) => (outcome === "rejected" ? "requests-rejected" : "")}
        chosen={chosen === undefined ? -1 : rows.indexOf(chosen)}
        onChoose={({ n }) => openRequest(n)}
        added={rows.added()}
        onNearEnd={rows.older}
      />
    </>
  );
}

const showAll = (): void => go(withParams({ f: undefined }), true);

function NoneSuits({ filter }: { filter: string }) {
  return (
    <Empty title={filter === "" ? "No requests of this project yet" : "No request matches the filter"}>
      <p>New ones appear here as they arrive.</p>
      {project.value !== undefined && (
        <p>
          A request with a wrong key belongs to no project.{" "}
          <a href={withParams({ project: undefined })}>Show all projects</a>
        </p>
      )}
      {filter !== "" && (
        <p>
          <Button onClick={showAll}>Clear the filter</Button>
        </p>
      )}
    </Empty>
  );
}

/** Empty state: how to send a request. */
function FirstRequests() {
  const url = info.value?.url ?? location.origin;
  const key = projectKey.value ?? "YOUR_PROJECT_KEY";
  return (
    <Empty title="No requests yet">
      <p>
        Every call that reaches this sim is shown here: events, flags, the management API, and rejected ones, with the
        reason. Point an SDK at {url}, or try one call:
      </p>
      <Code
        label="Terminal"
        text={`curl ${url}/batch/ \\\n  --json '{"api_key":"${key}","batch":[{"event":"hello","distinct_id":"me"}]}'`}
      />
      <p>Requests of this page are not listed.</p>
    </Empty>
  );
}
