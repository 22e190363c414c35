import { useState } from "preact/hooks";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keys.ts";
import { go, link, route } from "../../app/location.ts";
import { Badge, Button, Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/split.tsx";
import { plain } from "../../parts/text.ts";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import { ExchangeDetails } from "./exchange.tsx";
import { pathOf } from "./modes.ts";
import type { ExchangeRow, Exchanges } from "./shape.ts";

/** Exchanges that are read at once. */
const page = 1_000;

const open = (i: number | undefined, isReplacing = false) =>
  go(link("tapes", i === undefined ? ["exchanges"] : ["exchanges", i]), isReplacing);

/** What is on the tape in force; one of them in full. */
export function ExchangeList({ revision }: { revision: string }) {
  const chosen = Number(route.value.path[1]);
  const isOpen = Number.isSafeInteger(chosen) && chosen > 0;
  const [skip, setSkip] = useState(isOpen ? chosen - 1 - ((chosen - 1) % page) : 0);
  const { data, problem } = useResource<Exchanges>(`tapes/exchanges${query({ skip, limit: page })}`, {
    revision,
  });
  const rows = data?.exchanges ?? [];
  const place = rows.findIndex((it) => it.i === chosen);
  const step = (by: number) => {
    const next = rows[place === -1 ? 0 : place + by];
    if (next) open(next.i, isOpen);
  };
  useKeys("Tape", [
    { keys: "j", does: "Next exchange", run: () => step(1) },
    { keys: "k", does: "Exchange before", run: () => step(-1) },
    { keys: "Escape", does: "Close the details", run: () => isOpen && open(undefined) },
  ]);
  if (problem) return <Trouble problem={problem} />;
  return (
    <Split
      label={`Exchange ${chosen}`}
      onClose={() => open(undefined)}
      details={isOpen ? <ExchangeDetails i={chosen} revision={revision} /> : undefined}
      list={
        <div class="tapes-pane">
          {(skip > 0 || data?.more) && <Pages skip={skip} more={data?.more === true} onSkip={setSkip} />}
          <WindowedList
            class="tapes-list"
            label="Exchanges of the tape"
            count={rows.length}
            head={head}
            keyAt={(index) => rows[index]?.i ?? -index}
            cellsAt={(index) => {
              const row = rows[index];
              return row && <Cells row={row} />;
            }}
            chosen={place}
            onChoose={(index) => open(rows[index]?.i)}
          />
        </div>
      }
    />
  );
}

function Pages({ skip, more, onSkip }: { skip: number; more: boolean; onSkip: (to: number) => void }) {
  return (
    <div class="toolbar">
      <Button disabled={skip === 0} onClick={() => onSkip(Math.max(0, skip - page))}>
        Earlier
      </Button>
      <Button disabled={!more} onClick={() => onSkip(skip + page)}>
        Later
      </Button>
    </div>
  );
}

const head = (
  <>
    <HeadCell class="cell-number">No.</HeadCell>
    <HeadCell>Method</HeadCell>
    <HeadCell>Path</HeadCell>
    <HeadCell class="tapes-route">Route</HeadCell>
    <HeadCell class="cell-number">Status</HeadCell>
    <HeadCell>Used</HeadCell>
  </>
);

function Cells({ row }: { row: ExchangeRow }) {
  return (
    <>
      <Cell class="cell-number">{row.i}</Cell>
      <Cell>{plain(row.method, 12)}</Cell>
      <Cell title={plain(row.url)}>{plain(pathOf(row.url))}</Cell>
      <Cell class="tapes-route muted">{plain(row.route, 120)}</Cell>
      <Cell class="cell-number">{row.status ?? "–"}</Cell>
      <Cell>
        {!row.complete ? (
          <Badge tone="odd">cut off</Badge>
        ) : row.used ? (
          <Badge tone="good">used</Badge>
        ) : (
          <span class="muted">not yet</span>
        )}
      </Cell>
    </>
  );
}
