import { useState } from "preact/hooks";
import type { HeaderPairs, TapeBody } from "../../../src/tapes/format/exchange.ts";
import type { TapeExchange, TapeExchangeSummary, TapeExchanges } from "../../../src/tapes/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { go, link, route } from "../../app/location.ts";
import { Badge, Button, Code, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/layout.tsx";
import { counted, plain, sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { Cell, HeadCell, WindowedList } from "../../parts/windowed-list.tsx";
import { pathOf } from "./modes.ts";

const page = 1_000;

const open = (i: number | undefined, isReplacing = false) =>
  go(link("tapes", i === undefined ? ["exchanges"] : ["exchanges", i]), isReplacing);

/** Exchanges of the loaded tape, and details of one. */
export function ExchangeList({ revision }: { revision: string }) {
  const chosen = Number(route.value.path[1]);
  const isOpen = Number.isSafeInteger(chosen) && chosen > 0;
  const [skip, setSkip] = useState(isOpen ? chosen - 1 - ((chosen - 1) % page) : 0);
  const { data, problem } = useResource<TapeExchanges>(`tapes/exchanges${query({ skip, limit: page })}`, {
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
    { keys: "k", does: "Previous exchange", run: () => step(-1) },
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
        <p class="mono tapes-target">
          <b>{plain(exchange.method, 20)}</b> {plain(exchange.url, 2_000)}
        </p>
        <p class="tapes-badges">
          <Badge>{exchange.status === null ? "no answer" : `status ${exchange.status}`}</Badge>
          {exchange.used ? <Badge tone="good">used</Badge> : <Badge>not used yet</Badge>}
          {!exchange.complete && <Badge tone="odd">cut off</Badge>}
        </p>
        <Facts
          rows={[
            ["Recorded", <Time key="at" at={Date.parse(exchange.at)} isExact />],
            ["Route", plain(exchange.route, 200)],
            exchange.ms === null ? undefined : ["Took", `${Math.round(exchange.ms)} ms`],
            exchange.client === null ? undefined : ["Client", plain(exchange.client, 200)],
            ["Removed", redacted.length === 0 ? "nothing" : plain(redacted.join(", "), 1_000)],
            [
              "Answered",
              <a key="link" href={link("requests", [], { f: `source:tape:*#${exchange.i}` })}>
                the requests that it answered
              </a>,
            ],
          ]}
        />
      </section>
      <Section title="Request">
        <BodyPart body={request.body} label="Recorded request" />
        <Headers headers={request.headers} />
      </Section>
      <Section title="Response">
        {response === null ? (
          <p class="muted">No response.</p>
        ) : (
          <>
            <BodyPart body={response.body} label="Recorded answer" />
            <Headers headers={response.headers} />
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

function Headers({ headers }: { headers: HeaderPairs }) {
  return (
    <details class="tapes-headers">
      <summary>{counted(headers.length, "header")}</summary>
      <table class="table">
        <tbody>
          {headers.map(([name, value], i) => (
            <tr key={`${i} ${name}`}>
              <th scope="row">{plain(name, 200)}</th>
              <td class="mono">{plain(value, 4_000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
