import type { RequestRow } from "../../../src/state/journal/feed/feed-row.ts";
import { link } from "../../app/location.ts";
import { projectName } from "../../app/sim.ts";
import { Badge, Time } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { plain } from "../../parts/text.ts";
import { Cell, HeadCell } from "../../parts/windowed-list.tsx";
import {
  barOf,
  barShare,
  eventsText,
  msText,
  readSource,
  type Shown,
  targetParts,
  type Verdict,
  verdictOf,
} from "./row-texts.ts";

/** Column titles; requests.css hides some in narrow windows. */
export const headOf = (hasTests: boolean) => (
  <>
    <HeadCell class="cell-number requests-n">No.</HeadCell>
    <HeadCell class="requests-time">Time</HeadCell>
    <HeadCell>Method</HeadCell>
    <HeadCell>Path</HeadCell>
    <HeadCell class="cell-number">Status</HeadCell>
    <HeadCell>Outcome</HeadCell>
    <HeadCell class="requests-source">Source</HeadCell>
    <HeadCell class="requests-project">Project</HeadCell>
    <HeadCell class="requests-events">Events</HeadCell>
    <HeadCell class="cell-number requests-took">Took</HeadCell>
    <HeadCell class="requests-waterfall" title="Arrival and duration, over the time of the rows that are shown">
      Waterfall
    </HeadCell>
    {hasTests && <HeadCell class="requests-partition">Test</HeadCell>}
  </>
);

/** @param shown The time of the rows that are drawn */
export function cellsOf(row: RequestRow, shown: Shown | undefined, hasTests: boolean) {
  const verdict = verdictOf(row);
  return (
    <>
      <Cell class="cell-number requests-n">{row.n}</Cell>
      <Cell class="requests-time">
        <Time at={row.at} />
      </Cell>
      <Cell class="requests-method">{plain(row.method, 12)}</Cell>
      <Cell title={plain(row.target)}>
        <Target target={row.target} />
      </Cell>
      <Cell class="cell-number">{row.status === 0 ? "–" : row.status}</Cell>
      <Cell title={row.detail === null ? undefined : plain(row.detail)}>
        {verdict.tone === "good" ? <span class="muted">{verdict.text}</span> : <VerdictBadge verdict={verdict} />}
      </Cell>
      <Cell class="requests-source" title={plain(readSource(row).text, 200)}>
        <SourceText row={row} />
      </Cell>
      <Cell class="requests-project">{row.project !== null && plain(projectName(row.project), 60)}</Cell>
      <Cell class={`requests-events${row.dropped > 0 ? " bad" : ""}`}>{eventsText(row)}</Cell>
      <Cell class="cell-number requests-took">
        <Took ms={row.ms} />
      </Cell>
      <Cell class="requests-waterfall">{shown && <WaterfallBar row={row} shown={shown} />}</Cell>
      {hasTests && <Cell class="requests-partition">{row.partition !== null && plain(row.partition, 60)}</Cell>}
    </>
  );
}

export function VerdictBadge({ verdict: { of, tone, text } }: { verdict: Verdict }) {
  if (of === undefined) return <Badge tone={tone}>{plain(text, 80)}</Badge>;
  if (of === "dropped") return <OutcomeBadge of={of}>{text}</OutcomeBadge>;
  return <OutcomeBadge of={of} code={plain(text, 80)} />;
}

function Target({ target }: { target: string }) {
  const { path, query } = targetParts(target);
  return (
    <>
      {plain(path)}
      {query !== "" && <span class="requests-query">?{plain(query)}</span>}
    </>
  );
}

/** The source of the response, linked to the tape's exchange or to the faults. */
export function SourceText({ row }: { row: Pick<RequestRow, "source" | "fault"> }) {
  const source = readSource(row);
  const text = plain(source.text, 80);
  const href = source.tape
    ? link("tapes", ["exchanges", source.tape.i])
    : source.kind === "fault"
      ? link("faults")
      : undefined;
  // a click on the link must not select the row
  if (href !== undefined)
    return (
      <a href={href} onClick={(event) => event.stopPropagation()}>
        {text}
      </a>
    );
  return <span class={source.kind === "emulator" ? "muted" : ""}>{text}</span>;
}

function WaterfallBar({ row, shown }: { row: RequestRow; shown: Shown }) {
  const { start, length } = barOf(row, shown);
  return (
    <span
      class={`requests-span${row.outcome === "rejected" ? " requests-span-rejected" : ""}`}
      aria-hidden="true"
      style={{ insetInlineStart: `${(start * 100).toFixed(2)}%`, inlineSize: `${(length * 100).toFixed(2)}%` }}
    />
  );
}

function Took({ ms }: { ms: number }) {
  return (
    <>
      {msText(ms)}
      <span
        class={`requests-bar${ms > 100 ? " requests-slow" : ""}`}
        aria-hidden="true"
        style={{ inlineSize: `${(barShare(ms) * 100).toFixed(1)}%` }}
      />
    </>
  );
}
