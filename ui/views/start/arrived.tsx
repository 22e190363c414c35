import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import { outcomeOf } from "../../../src/journal/outcomes.ts";
import { link } from "../../app/location.ts";
import { figureText, type Totals } from "../../app/sim.ts";
import { Badge, Section, Tiles, Time } from "../../parts/basics.tsx";
import { nameTerm } from "../../parts/filter-box/filter-text.ts";
import { Table } from "../../parts/layout.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { numberText, plain } from "../../parts/text.ts";

const nameText = (text: string): string => (text === "" ? "(no name)" : plain(text, 80));
const idText = (text: string): string => (text === "" ? "(none)" : plain(text, 40));

const shownNames = 8;

interface ArrivedProps {
  totals: Totals | undefined;
  /** The very first event, if loaded. */
  first: EventRow | undefined;
  latest: readonly EventRow[];
}

/** What arrived and what was lost, with links. */
export function Arrived({ totals, first, latest }: ArrivedProps) {
  return (
    <Section title="What arrived" actions={<a href={link("events")}>All events</a>}>
      {first && <First row={first} />}
      {totals && <Numbers totals={totals} />}
      <div class="start-columns">
        {totals && <Names events={totals.events} />}
        <Latest rows={latest} />
      </div>
    </Section>
  );
}

function First({ row }: { row: EventRow }) {
  return (
    <p class="start-first" role="status">
      <Badge tone="good">First event received</Badge>{" "}
      <a href={link("events", [row.seq])}>
        {nameText(row.event)} of {idText(row.distinct_id)}
      </a>{" "}
      <span class="muted">
        at <Time at={row.at} />
      </span>
    </p>
  );
}

function Numbers({ totals: { events, requests, persons } }: { totals: Totals }) {
  return (
    <Tiles
      rows={[
        {
          label: "kept",
          value: figureText(events.kept, events.complete),
          href: link("events", [], { f: "is:kept" }),
        },
        {
          label: "dropped",
          value: figureText(events.dropped, events.complete),
          tone: events.dropped > 0 ? "dropped" : "plain",
          href: link("events", [], { f: "is:dropped" }),
        },
        {
          label: "requests rejected",
          value: figureText(requests.rejected, requests.complete),
          tone: requests.rejected > 0 ? "rejected" : "plain",
          href: link("requests", [], { f: "is:rejected" }),
        },
        { label: "persons", value: numberText(persons), href: link("people") },
      ]}
    />
  );
}

function Names({ events: { names, more_names, names_complete, complete } }: { events: Totals["events"] }) {
  const more = Math.max(0, names.length - shownNames) + more_names;
  return (
    <Table columns={["Event", ["Count", "number"], ["Last", "number"]]}>
      {names.slice(0, shownNames).map(({ event, count, last, last_at }) => (
        <tr key={event}>
          <td>
            <a href={link("events", [], { f: nameTerm(event) })}>{nameText(event)}</a>
          </td>
          <td class="number">{figureText(count, complete)}</td>
          <td class="number">{last_at === null ? `event ${last}` : <Time at={last_at} />}</td>
        </tr>
      ))}
      {more > 0 && (
        <tr>
          <td
            colSpan={3}
            class="muted"
          >{`and ${figureText(more, names_complete)} other ${more === 1 ? "name" : "names"}`}</td>
        </tr>
      )}
    </Table>
  );
}

function Latest({ rows }: { rows: readonly EventRow[] }) {
  return (
    <Table columns={["Latest", ["Distinct id", "start-sender"], "Outcome"]}>
      {rows.map((row) => (
        <tr key={row.seq}>
          <td>
            <a href={link("events", [row.seq])}>{nameText(row.event)}</a>
          </td>
          <td class="start-sender">{idText(row.distinct_id)}</td>
          <td>
            <OutcomeBadge of={outcomeOf(row)} code={row.reason ?? row.warnings[0]} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
