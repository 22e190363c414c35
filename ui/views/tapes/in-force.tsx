import { link } from "../../app/location.ts";
import { Badge, Button, Facts, Section, Time } from "../../parts/basics.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { Misses } from "./misses.tsx";
import { missText, pathOf, timingText } from "./modes.ts";
import { Numbers } from "./numbers.tsx";
import type { TapeInForce } from "./shape.ts";

interface InForceProps {
  tape: TapeInForce;
  onRewind(): void;
  onUnload(): void;
}

/** The tape that answers, and what was used of it. */
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
          <span class="tapes-actions">
            <Button onClick={onRewind}>Rewind</Button>
            <Button onClick={onUnload}>Unload</Button>
          </span>
        }
      >
        <Numbers
          counts={[
            { label: "exchanges", value: ledger.total, href: link("tapes", ["exchanges"]) },
            { label: "hits", value: ledger.hits, tone: "good" },
            { label: "misses", value: ledger.miss_count, tone: "bad" },
            { label: "not used yet", value: ledger.unused_count, tone: "odd" },
          ]}
        />
        <Facts
          rows={[
            [
              "File",
              <span key="file" class="mono">
                {plain(tape.file, 500)}
              </span>,
            ],
            ["Recorded", <Time key="at" at={Date.parse(tape.created)} isWhole />],
            ["Upstream", tape.upstream === null ? "several" : plain(tape.upstream, 300)],
            ["What is not on it", missText(tape.on_miss)],
            ["Answers come", timingText(tape.timing)],
          ]}
        />
      </Section>
      <Misses ledger={ledger} />
      <Unused tape={tape} />
      <Problems tape={tape} />
    </>
  );
}

const mostUnused = 200;

function Unused({ tape: { ledger } }: { tape: TapeInForce }) {
  const { unused, unused_count } = ledger;
  if (unused_count === 0) return null;
  return (
    <Section title="Not used yet">
      <table class="table">
        <thead>
          <tr>
            <th scope="col" class="number tapes-number">
              No.
            </th>
            <th scope="col">Request</th>
            <th scope="col" class="tapes-wide">
              Route
            </th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
      {unused_count > mostUnused && <p class="muted">… and {numberText(unused_count - mostUnused)} more.</p>}
    </Section>
  );
}

function Problems({ tape: { problems } }: { tape: TapeInForce }) {
  if (problems.length === 0) return null;
  return (
    <Section title="Problems of the file">
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
