import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { RequestRow } from "../../../src/model/row.ts";
import { late } from "../../app/late.tsx";
import { go, project, route, withParams } from "../../app/location.ts";
import { hrefTo } from "../../app/route.ts";
import { type LiveRows, useLiveRows } from "../../feed/use-live-rows.ts";
import { Button, Empty, Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/split.tsx";
import { WindowedList } from "../../parts/windowed-list.tsx";
import type { DetailsProps } from "./details.tsx";
import { stepFrom } from "./place.ts";
import { cellsOf, head } from "./row.tsx";
import { Missing, Toolbar } from "./toolbar.tsx";
import { useRequestKeys } from "./use-request-keys.ts";

/** Seen once in the life of a sim. */
const FirstRequests = late(async () => (await import("./first-requests.tsx")).FirstRequests);
const HarDialog = late(async () => (await import("./har-dialog.tsx")).HarDialog);

const numberIn = (text: string | undefined): number | undefined => {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
};

const openRequest = (n: number, isReplacing = false): void =>
  go(hrefTo("requests", [n], route.value.params), isReplacing);

const closeRequest = (): void => go(hrefTo("requests", [], route.value.params));

/** Every exchange, the newest first: `#/requests?f=…`; and one of them in full: `#/requests/12`. */
export function RequestsView({ Details }: { Details: ComponentType<DetailsProps> }) {
  const { path, params } = route.value;
  const filter = params.f ?? "";
  const opened = numberIn(path[0]);
  const { rows, problem } = useLiveRows<RequestRow>({ kind: "requests", filter, project: project.value });
  const cursor = useSignal(opened);
  const isHarAsked = useSignal(false);
  if (opened !== undefined && cursor.peek() !== opened) cursor.value = opened;
  useRequestKeys({ rows, opened, cursor, open: openRequest, close: closeRequest });
  const askForHar = (isAsked: boolean) => {
    isHarAsked.value = isAsked;
  };
  return (
    <Split
      label="The request"
      onClose={closeRequest}
      details={opened === undefined ? undefined : <Opened n={opened} rows={rows} Details={Details} />}
      list={
        <div class="requests">
          <Toolbar filter={filter} rows={problem ? undefined : rows} onHar={() => askForHar(true)} />
          {problem && <Trouble problem={problem} />}
          {rows && !problem && <Rows rows={rows} chosen={cursor.value} filter={filter} />}
          {isHarAsked.value && <HarDialog filter={filter} onClose={() => askForHar(false)} />}
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

/** The details, with ways to the requests beside. */
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

function Rows({ rows, chosen, filter }: RowsProps) {
  void rows.version.value;
  const problem = rows.problem.value;
  if (rows.count() === 0 && !rows.isLoading.value && !rows.hasOlder.value && !problem)
    return filter === "" && project.value === undefined ? <FirstRequests /> : <NoneSuits filter={filter} />;
  return (
    <>
      {problem && <Trouble problem={problem} />}
      <Missing rows={rows} />
      <WindowedList
        class="requests-list"
        label="Requests, the newest first"
        count={rows.count()}
        head={head}
        keyAt={(index) => rows.at(index)?.n ?? `none-${index}`}
        cellsAt={(index) => {
          const row = rows.at(index);
          return row && cellsOf(row);
        }}
        classAt={(index) => (rows.at(index)?.outcome === "rejected" ? "requests-rejected" : "")}
        chosen={chosen === undefined ? -1 : rows.indexOf(chosen)}
        onChoose={(index) => {
          const row = rows.at(index);
          if (row) openRequest(row.n);
        }}
        added={rows.added()}
        onNearEnd={rows.older}
      />
    </>
  );
}

const showAll = (): void => go(withParams({ f: undefined }), true);

function NoneSuits({ filter }: { filter: string }) {
  return (
    <Empty title={filter === "" ? "No requests of this project yet" : "No request passes the filter"}>
      <p>New ones are shown here as they come.</p>
      {project.value !== undefined && (
        <p>
          A request with a wrong key belongs to no project.{" "}
          <a href={withParams({ project: undefined })}>Show all projects</a>
        </p>
      )}
      {filter !== "" && (
        <p>
          <Button onClick={showAll}>Take the filter out</Button>
        </p>
      )}
    </Empty>
  );
}
