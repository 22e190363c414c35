import type { LoadedTape, TapeLedger, TapeMiss } from "../../../src/lab/tapes/shapes.ts";
import { link } from "../../app/location.ts";
import { Badge, Button, Facts, Section, Tiles, Time } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { missText, pathOf, timingText } from "./modes.ts";

interface InForceProps {
  tape: LoadedTape;
  onRewind(): void;
  onUnload(): void;
}

/** The loaded tape and its usage. */
export function InForce({ tape, onRewind, onUnload }: InForceProps) {
  const { ledger } = tape;
  return (
    <>
      <Section
        title={
          <>
            Tape <span class="mono">{plain(tape.name, 120)}</span>
          </>
        }
        actions={
          <span class="row">
            <Button onClick={onRewind}>Rewind</Button>
            <Button onClick={onUnload}>Unload</Button>
          </span>
        }
      >
        <Tiles
          rows={[
            { label: "exchanges", count: ledger.total, href: link("tapes", ["exchanges"]) },
            { label: "hits", count: ledger.hits, tone: "good" },
            { label: "misses", count: ledger.miss_count, tone: "bad" },
            { label: "not used yet", count: ledger.unused_count, tone: "odd" },
          ]}
        />
        <Facts
          rows={{
            File: <span class="mono">{plain(tape.file, 500)}</span>,
            Recorded: <Time at={tape.created} isWhole />,
            Upstream: tape.upstream === null ? "several" : plain(tape.upstream, 300),
            "Requests not on it": missText(tape.on_miss),
            "Responses come": timingText(tape.timing),
          }}
        />
      </Section>
      <Misses ledger={ledger} />
      <Unused tape={tape} />
      <Problems tape={tape} />
    </>
  );
}

const mostUnused = 200;

function Unused({ tape: { ledger } }: { tape: LoadedTape }) {
  const { unused, unused_count } = ledger;
  if (unused_count === 0) return null;
  return (
    <Section title="Not used yet">
      <Table columns={[["No.", "number tapes-number"], "Request", ["Route", "tapes-wide"]]}>
        {unused.slice(0, mostUnused).map(({ i, method, url, route }) => (
          <tr key={i}>
            <td class="number">
              <a href={link("tapes", ["exchanges", i])}>#{i}</a>
            </td>
            <td class="mono">
              {plain(method, 20)} {plain(pathOf(url), 300)}
            </td>
            <td class="muted tapes-wide">{plain(route, 120)}</td>
          </tr>
        ))}
      </Table>
      {unused_count > mostUnused && <p class="muted">… and {numberText(unused_count - mostUnused)} more.</p>}
    </Section>
  );
}

function Problems({ tape: { problems } }: { tape: LoadedTape }) {
  if (problems.length === 0) return null;
  return (
    <Section title="Problems in the file">
      <table class="table">
        <tbody>
          {problems.slice(0, 100).map(({ file, line, detail, hint }) => (
            <tr key={`${file}:${line}:${detail}`}>
              <td>
                <Badge tone="odd">line {line}</Badge>
              </td>
              <td>
                {plain(detail, 500)}. <span class="muted">{plain(hint, 500)}.</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

const most = 100;

/** Requests that are not on the tape, with the nearest exchanges. */
function Misses({ ledger }: { ledger: TapeLedger }) {
  const { misses } = ledger;
  if (misses.length === 0) return null;
  return (
    <Section title="Not on the tape">
      <div class="stack stack-wide">
        {misses.slice(0, most).map((miss) => (
          <MissCard key={`${miss.method} ${miss.target} ${miss.route}`} miss={miss} />
        ))}
      </div>
      {misses.length > most && <p class="muted">… and {numberText(misses.length - most)} more.</p>}
    </Section>
  );
}

function MissCard({ miss }: { miss: TapeMiss }) {
  const [first, ...rest] = miss.nearest;
  return (
    <article class="stack card">
      <header class="row row-wide row-base">
        <Badge tone="bad">{miss.times === 1 ? "missed" : `missed ${numberText(miss.times)} times`}</Badge>
        <span class="mono">
          <b>{plain(miss.method, 20)}</b> {plain(miss.target, 500)}
        </span>
        <span class="muted">{plain(miss.route, 120)}</span>
      </header>
      {first ? <NearestExchange nearest={first} /> : <p class="muted">No similar exchange on the tape.</p>}
      {rest.length > 0 && (
        <details>
          <summary>{counted(rest.length, "exchange")} more similar</summary>
          {rest.map((it) => (
            <NearestExchange key={it.i} nearest={it} />
          ))}
        </details>
      )}
    </article>
  );
}

/** A similar recorded exchange and its differences. */
function NearestExchange({ nearest: { i, method, url, differing } }: { nearest: TapeMiss["nearest"][number] }) {
  return (
    <div class="stack">
      <p>
        Nearest:{" "}
        <a href={link("tapes", ["exchanges", i])}>
          #{i} {plain(method, 20)} {plain(pathOf(url), 300)}
        </a>
      </p>
      {differing.length === 0 ? (
        <p class="muted">The request is the same; the exchange was used up or incomplete.</p>
      ) : (
        <Differing differing={differing} />
      )}
    </div>
  );
}

function Differing({ differing }: Pick<TapeMiss["nearest"][number], "differing">) {
  return (
    <Table class="tapes-differing" columns={["Difference", "On the tape", "Request"]}>
      {differing.slice(0, 50).map(({ path, recorded, asked }) => (
        <tr key={path}>
          <th scope="row">
            <code>{plain(path, 300)}</code>
          </th>
          <td>
            <code>{plain(recorded, 1_000)}</code>
          </td>
          <td class="bad">
            <code>{plain(asked, 1_000)}</code>
          </td>
        </tr>
      ))}
    </Table>
  );
}
