import { useState } from "preact/hooks";
import type { HeaderPairs, TapeBody } from "../../../src/lab/tapes/format/exchange.ts";
import type { TapeExchange, TapeExchangeSummary, TapeExchanges } from "../../../src/lab/tapes/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, route } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { Badge, Code, Facts, Headers, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Pages, Split } from "../../parts/layout.tsx";
import { counted, plain, sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import { pathOf } from "./modes.ts";

const page = 1_000;

const open = (i: number | undefined, isReplacing = false) =>
  go(link("tapes", i === undefined ? ["exchanges"] : ["exchanges", i]), isReplacing);

/** Exchanges of the loaded tape, and details of one. */
export function ExchangeList({ revision }: { revision: string }) {
  const chosen = numberIn(route.value.path[1]);
  const [skip, setSkip] = useState(chosen ? chosen - 1 - ((chosen - 1) % page) : 0);
  const { data, problem } = useResource<TapeExchanges>(`tapes/exchanges${query({ skip, limit: page })}`, { revision });
  const rows = data?.exchanges ?? [];
  const place = rows.findIndex((it) => it.i === chosen);
  useKeys("Tape", [
    ...stepKeys("exchange", rows, place, ({ i }) => open(i, chosen !== undefined)),
    { keys: "Escape", does: "Close the details", run: () => chosen && open(undefined) },
  ]);
  if (problem) return <Trouble problem={problem} />;
  return (
    <Split
      label={`Exchange ${chosen}`}
      onClose={() => open(undefined)}
      details={chosen && <ExchangeDetails i={chosen} revision={revision} />}
      list={
        <div class="tapes-pane">
          {(skip > 0 || data?.more) && (
            <div class="toolbar">
              <Pages offset={skip} size={page} hasMore={data?.more === true} onTurn={setSkip} />
            </div>
          )}
          <WindowedList
            class="tapes-list"
            label="Exchanges of the tape"
            count={rows.length}
            head={head}
            at={(index) => rows[index]}
            keyOf={({ i }) => i}
            cellsOf={(row) => <Cells row={row} />}
            chosen={place}
            onChoose={({ i }) => open(i)}
          />
        </div>
      }
    />
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

function Cells({ row }: { row: TapeExchangeSummary }) {
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

function ExchangeDetails({ i, revision }: { i: number; revision: string }) {
  const { data, problem } = useResource<TapeExchange>(`tapes/exchanges/${i}`, { revision });
  return (
    <>
      <header class="tapes-title">
        <h2>Exchange {i}</h2>
      </header>
      {problem && <Trouble problem={problem} />}
      {data && <Recorded exchange={data} />}
    </>
  );
}

function Recorded({ exchange }: { exchange: TapeExchange }) {
  const { request, response, redacted } = exchange;
  return (
    <>
      <section class="section">
        <p class="mono">
          <b>{plain(exchange.method, 20)}</b> {plain(exchange.url, 2_000)}
        </p>
        <p class="row tapes-badges">
          <Badge>{exchange.status === null ? "no response" : `status ${exchange.status}`}</Badge>
          {exchange.used ? <Badge tone="good">used</Badge> : <Badge>not used yet</Badge>}
          {!exchange.complete && <Badge tone="odd">cut off</Badge>}
        </p>
        <Facts
          rows={{
            Recorded: <Time at={exchange.at} isExact />,
            Route: plain(exchange.route, 200),
            Took: exchange.ms === null ? undefined : `${Math.round(exchange.ms)} ms`,
            Client: exchange.client === null ? undefined : plain(exchange.client, 200),
            Removed: redacted.length === 0 ? "nothing" : plain(redacted.join(", "), 1_000),
            Replayed: (
              <a href={link("requests", [], { f: `source:tape:*#${exchange.i}` })}>requests that got this response</a>
            ),
          }}
        />
      </section>
      <Section title="Request">
        <BodyPart body={request.body} label="Recorded request" />
        <HeaderPart headers={request.headers} />
      </Section>
      <Section title="Response">
        {response === null ? (
          <p class="muted">No response.</p>
        ) : (
          <>
            <BodyPart body={response.body} label="Recorded response" />
            <HeaderPart headers={response.headers} />
          </>
        )}
      </Section>
    </>
  );
}

function BodyPart({ body, label }: { body: TapeBody | undefined; label: string }) {
  if (body === undefined) return <p class="muted">No body.</p>;
  if ("json" in body) return <PayloadTree value={body.json} label={label} search open={2} />;
  if ("text" in body) return <Code label="Text" text={body.text} />;
  if ("b64" in body) return <Code label="Bytes, as base64" text={body.b64} />;
  if ("file" in body)
    return (
      <p class="muted">
        {sizeText(body.bytes)}, beside the tape in {plain(body.file, 200)}.
      </p>
    );
  return <p class="muted">{sizeText(body.bytes)}, not kept.</p>;
}

function HeaderPart({ headers }: { headers: HeaderPairs }) {
  return (
    <details class="tapes-headers">
      <summary>{counted(headers.length, "header")}</summary>
      <Headers headers={headers} />
    </details>
  );
}
