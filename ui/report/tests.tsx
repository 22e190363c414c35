import { useState } from "preact/hooks";
import { outcomeOf } from "../../src/state/journal/outcomes.ts";
import type { RunVerdict } from "../../src/testing/run-report/shapes.ts";
import { Badge, Button, Empty, Facts, Prose, Section } from "../parts/basics.tsx";
import { EventIcon } from "../parts/event-icon.tsx";
import { Icon } from "../parts/icon.tsx";
import { Fix, OutcomeBadge } from "../parts/outcome.tsx";
import { counted, explained, plain, spanText } from "../parts/text.ts";
import { PayloadTree } from "../parts/tree/tree.tsx";
import type { Entry } from "./entries.ts";

/** Rows and dots that are drawn at first. */
const rowsAtFirst = 100;
const mostDots = 400;

const outcomeIn = (entry: Entry) => {
  if (entry.kind === "event") return outcomeOf(entry.it);
  return entry.kind === "request" && entry.it.outcome === "rejected" ? "rejected" : undefined;
};

const nameIn = (entry: Entry): string => {
  if (entry.kind === "event") return plain(entry.it.event, 120) || "(no name)";
  if (entry.kind === "request") return plain(`${entry.it.method} ${entry.it.target}`, 160);
  return counted(entry.it.flags.length, "flag");
};

/** Entries over the time of a test. */
function Timeline({ entries }: { entries: readonly Entry[] }) {
  const start = entries[0]?.at ?? 0;
  const length = Math.max(1, (entries.at(-1)?.at ?? 0) - start);
  const step = Math.ceil(entries.length / mostDots);
  // a problem is always drawn
  const drawn = entries.filter((it, i) => i % step === 0 || isBad(it)).slice(0, 2 * mostDots);
  return (
    <div class="report-track" role="img" aria-label={`${counted(entries.length, "entry")} in ${spanText(length)}`}>
      {drawn.map((entry, i) => (
        <i
          key={i}
          class={`report-dot report-dot-${outcomeIn(entry) ?? entry.kind}`}
          style={{ insetInlineStart: `${((entry.at - start) / length) * 100}%` }}
          title={`+${spanText(entry.at - start)} ${nameIn(entry)}`}
        />
      ))}
    </div>
  );
}

const isBad = (entry: Entry): boolean => ["dropped", "rejected"].includes(outcomeIn(entry) ?? "");

const Why = ({ code, text, fix }: { code: string; text: string; fix: string }) => (
  <p>
    <code>{plain(code, 80)}</code>: <Prose text={plain(text)} />. <Fix text={plain(fix)} />
  </p>
);

function EventRow({ it }: { it: Extract<Entry, { kind: "event" }>["it"] }) {
  const codes = it.reason === null ? it.warnings : [it.reason];
  return (
    <div class="stack">
      {codes.map((code) => {
        const { sentence, fix } = explained(code);
        return <Why key={code} code={code} text={sentence} fix={fix} />;
      })}
      {it.detail !== null && <p class="muted">{plain(it.detail)}</p>}
      <Facts
        rows={{
          "distinct id": <code>{plain(it.distinct_id)}</code>,
          timestamp: <code>{plain(it.timestamp)}</code>,
          number: `${it.seq}, in request ${it.request}`,
        }}
      />
      {it.properties === null ? (
        <p class="muted">The properties are left out: the report would be too large. events.ndjson has them.</p>
      ) : (
        <PayloadTree value={it.properties} label="Properties" />
      )}
    </div>
  );
}

function RequestRow({ it }: { it: Extract<Entry, { kind: "request" }>["it"] }) {
  return (
    <div class="stack">
      {it.rejected && <Why code={it.rejected.reason} text={it.rejected.detail} fix={it.rejected.hint ?? ""} />}
      <Facts
        rows={{
          address: <code>{plain(it.target, 2_000)}</code>,
          status: it.status === 0 ? "no answer" : it.status,
          time: `${it.ms.toFixed(1)} ms`,
          events: `${it.events}, of which ${it.dropped} dropped`,
          fault: it.fault === null ? undefined : plain(it.fault),
          answered: it.scripted ? "by a script" : (it.source ?? undefined),
          number: it.n,
        }}
      />
    </div>
  );
}

const valueText = (value: boolean | string | null): string => (value === null ? "no value" : plain(String(value), 80));

function FlagsRow({ it }: { it: Extract<Entry, { kind: "flags" }>["it"] }) {
  return (
    <div class="stack">
      <p class="muted">
        For <code>{plain(it.distinct_id ?? "no id")}</code>,{" "}
        {it.by === "answer" ? `in the answer of request ${it.request}` : "evaluated by the SDK"}
      </p>
      <table class="table">
        <tbody>
          {it.flags.map(({ key, value, reason }) => (
            <tr key={key}>
              <td>
                <code>{plain(key, 120)}</code>
              </td>
              <td>{valueText(value)}</td>
              <td class="muted">{reason === null ? "" : plain(reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const contentOf = (entry: Entry) => {
  if (entry.kind === "event") return <EventRow it={entry.it} />;
  return entry.kind === "request" ? <RequestRow it={entry.it} /> : <FlagsRow it={entry.it} />;
};

/** One entry; its content is drawn when it is opened. */
function EntryRow({ entry, start }: { entry: Entry; start: number }) {
  const [isOpen, setOpen] = useState(false);
  const outcome = outcomeIn(entry);
  const code = entry.kind === "event" ? (entry.it.reason ?? entry.it.warnings[0]) : undefined;
  return (
    <details class="report-entry" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="report-time">+{spanText(entry.at - start)}</span>
        <span class="report-name">
          {entry.kind === "event" ? (
            <EventIcon name={entry.it.event} />
          ) : (
            <Icon of={entry.kind === "flags" ? "flags" : "requests"} />
          )}{" "}
          {nameIn(entry)}
        </span>
        <span class="report-end">
          {outcome !== undefined && outcome !== "kept" && <OutcomeBadge of={outcome} code={code} />}
          {entry.kind === "request" && <Badge isMarked={false}>{entry.it.status || "no answer"}</Badge>}
        </span>
      </summary>
      {isOpen && <div class="report-content">{contentOf(entry)}</div>}
    </details>
  );
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  const [most, setMost] = useState(rowsAtFirst);
  const start = entries[0]?.at ?? 0;
  const more = entries.length - most;
  return (
    <>
      {entries.slice(0, most).map((it, i) => (
        <EntryRow key={`${it.kind} ${i}`} entry={it} start={start} />
      ))}
      {more > 0 && (
        <p class="report-content">
          <Button onClick={() => setMost(most + 10 * rowsAtFirst)}>Show more ({more} are left)</Button>
        </p>
      )}
    </>
  );
}

interface TestCardProps {
  name: string;
  counts: Pick<RunVerdict["tests"]["items"][number], "kept" | "dropped" | "rejected" | "unmatched"> | undefined;
  entries: readonly Entry[];
  isFirst: boolean;
}

function TestCard({ name, counts, entries, isFirst }: TestCardProps) {
  const bad = counts ? counts.dropped + counts.rejected + counts.unmatched : 0;
  const [isOpen, setOpen] = useState(bad > 0 || isFirst);
  return (
    <details class="report-test" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h3>{plain(name, 300) || "(no name)"}</h3>
        <span class="row">
          {counts && <OutcomeBadge of="kept">{counts.kept} kept</OutcomeBadge>}
          {counts && counts.dropped > 0 && <OutcomeBadge of="dropped">{counts.dropped} dropped</OutcomeBadge>}
          {counts && counts.rejected + counts.unmatched > 0 && (
            <OutcomeBadge of="rejected">{counts.rejected + counts.unmatched} rejected</OutcomeBadge>
          )}
        </span>
        <Timeline entries={entries} />
      </summary>
      {isOpen && <Entries entries={entries} />}
    </details>
  );
}

interface TestsProps {
  verdict: RunVerdict;
  groups: ReadonlyMap<number | null, readonly Entry[]>;
  isFiltered: boolean;
}

/** The tests with what happened in each. */
export function Tests({ verdict, groups, isFiltered }: TestsProps) {
  const known = new Map(verdict.tests.items.map((it) => [it.project, it]));
  const others = [...groups.keys()].filter((it) => it === null || !known.has(it));
  const rows = [
    ...verdict.tests.items.map((it) => ({ id: it.project, name: it.name, counts: it })),
    ...others.map((id) => ({ id, name: id === null ? "Without a project" : `Project ${id}`, counts: undefined })),
  ].flatMap((it) => {
    const entries = groups.get(it.id) ?? [];
    return entries.length === 0 && isFiltered ? [] : [{ ...it, entries }];
  });
  return (
    <Section title={`Tests (${rows.length})`}>
      {rows.length === 0 && <Empty title={isFiltered ? "Nothing fits the search" : "Nothing arrived"} />}
      {rows.map(({ id, ...it }, i) => (
        <TestCard key={String(id)} {...it} isFirst={i === 0} />
      ))}
    </Section>
  );
}
