import { outcomeOf } from "../../../src/kernel/outcomes.ts";
import type { EventRow } from "../../../src/model/row.ts";
import { projectName } from "../../app/sim.ts";
import { Badge, Time } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Prose } from "../../parts/prose.tsx";
import { plain } from "../../parts/text.ts";
import { Cell, HeadCell } from "../../parts/windowed-list.tsx";
import { codesOf, explanationOf, lagText, sentenceOf } from "./outcome.ts";

/** Names and ids are shown up to here in a list. */
const longest = 200;

/** The columns' titles. */
export function EventHead() {
  return (
    <>
      <HeadCell>Arrived</HeadCell>
      <HeadCell>Outcome</HeadCell>
      <HeadCell>Event</HeadCell>
      <HeadCell class="events-id">Distinct id</HeadCell>
      <HeadCell class="events-project">Project</HeadCell>
      <HeadCell class="events-why">Why</HeadCell>
    </>
  );
}

/** One event in the list. */
export function EventCells({ row, isMarked }: { row: EventRow; isMarked: boolean }) {
  return (
    <>
      <Cell>
        <Time at={row.at} />
      </Cell>
      <Cell>
        <OutcomeBadge of={outcomeOf(row)} title={explanationOf(row)} />
      </Cell>
      <Cell class="events-name" title={plain(row.event, longest)}>
        {isMarked && <Badge tone="note">to compare</Badge>}
        {row.event === "" ? <span class="muted">(no name)</span> : plain(row.event, longest)}
      </Cell>
      <Cell class="events-id mono" title={plain(row.distinct_id, longest)}>
        {row.distinct_id === "" ? <span class="muted">(none)</span> : plain(row.distinct_id, longest)}
      </Cell>
      <Cell class="events-project muted">{plain(projectName(row.project))}</Cell>
      <Why row={row} />
    </>
  );
}

function Why({ row }: { row: EventRow }) {
  const [code] = codesOf(row);
  const lag = lagText(row);
  return (
    <Cell class="events-why" title={explanationOf(row)}>
      {code !== undefined && <code>{plain(code)}</code>}
      {code !== undefined && (
        <span class="events-sentence muted">
          <Prose text={plain(sentenceOf(row))} />
        </span>
      )}
      {lag !== "" && <span class="events-lag">{lag}</span>}
    </Cell>
  );
}

/** Classes of a row: what was dropped is tinted. */
export const rowClass = (row: EventRow): string => `events-${outcomeOf(row)}`;
