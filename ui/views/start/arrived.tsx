import { outcomeOf } from "../../../src/kernel/outcomes.ts";
import { type DropReason, dropReasons, explain, type Warning, warnings } from "../../../src/model/outcome.ts";
import type { EventRow } from "../../../src/model/row.ts";
import { link } from "../../app/location.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Section, Tiles, Time } from "../../parts/basics.tsx";
import { nameTerm } from "../../parts/filter-box/terms.ts";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Prose } from "../../parts/prose.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import type { Overview, Tally } from "./overview.ts";
import { ToDo } from "./to-do.tsx";

/** Captured text in a line; one that is empty is seen, too. */
const named = (text: string, most: number): string => (text === "" ? "(empty)" : plain(text, most));

const shownNames = 8;
const shownReasons = 6;

interface ArrivedProps {
  overview: Overview;
  /** The first event of all, where it is among those that are told. */
  first: EventRow | undefined;
  /** More came than was looked at. */
  isPart: boolean;
}

/** What came, what of it was lost, and where to look closer. */
export function Arrived({ overview, first, isPart }: ArrivedProps) {
  return (
    <>
      <Section title="What came" actions={<a href={link("events")}>All events</a>}>
        {first && <First row={first} />}
        <Numbers />
        <div class="start-columns">
          <Names names={overview.names} />
          <Latest rows={overview.latest} />
        </div>
        {isPart && (
          <p class="muted">{`The table adds up the newest ${counted(overview.looked, "event")}.`}</p>
        )}
      </Section>
      {overview.reasons.length > 0 && <Reasons reasons={overview.reasons} />}
    </>
  );
}

/** The moment everybody waits for. */
function First({ row }: { row: EventRow }) {
  return (
    <p class="start-first" role="status">
      <Badge tone="good">First event received</Badge>{" "}
      <a href={link("events", [row.seq])}>
        {named(row.event, 80)} of {named(row.distinct_id, 60)}
      </a>{" "}
      <span class="muted">
        at <Time at={row.at} />
      </span>
    </p>
  );
}

function Numbers() {
  const now = stat.value;
  if (!now) return null;
  return (
    <Tiles
      rows={[
        { label: "kept", value: numberText(now.kept), href: link("events", [], { f: "is:kept" }) },
        {
          label: "dropped",
          value: numberText(now.dropped),
          tone: now.dropped > 0 ? "dropped" : "plain",
          href: link("events", [], { f: "is:dropped" }),
        },
        {
          label: "requests rejected",
          value: numberText(now.rejected),
          tone: now.rejected > 0 ? "rejected" : "plain",
          href: link("requests", [], { f: "is:rejected" }),
        },
        { label: "persons", value: numberText(now.persons), href: link("people") },
      ]}
    />
  );
}

function Names({ names }: { names: readonly Tally[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Event</th>
          <th class="number">Count</th>
          <th class="number">Last</th>
        </tr>
      </thead>
      <tbody>
        {names.slice(0, shownNames).map(({ name, count, last }) => (
          <tr key={name}>
            <td>
              <a href={link("events", [], { f: nameTerm(name) })}>{named(name, 80)}</a>
            </td>
            <td class="number">{numberText(count)}</td>
            <td class="number">
              <Time at={last} />
            </td>
          </tr>
        ))}
        {names.length > shownNames && (
          <tr>
            <td colSpan={3} class="muted">{`and ${numberText(names.length - shownNames)} other names`}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Latest({ rows }: { rows: readonly EventRow[] }) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Latest</th>
          <th>Sent by</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.seq}>
            <td>
              <a href={link("events", [row.seq])}>{named(row.event, 80)}</a>
            </td>
            <td>{named(row.distinct_id, 40)}</td>
            <td>
              <OutcomeBadge of={outcomeOf(row)} code={row.reason ?? row.warnings[0]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const isReason = (code: string): code is DropReason | Warning =>
  Object.hasOwn(dropReasons, code) || Object.hasOwn(warnings, code);

function Reasons({ reasons }: { reasons: readonly Tally[] }) {
  return (
    <Section title="Problems found">
      <ul class="start-problems">
        {reasons.slice(0, shownReasons).map(({ name, count, dropped }) => {
          const said = isReason(name) ? explain(name) : undefined;
          return (
            <li key={name}>
              <p>
                <OutcomeBadge of={dropped > 0 ? "dropped" : "warned"} code={name} />{" "}
                <Prose text={said?.sentence ?? ""} />
              </p>
              {said && <ToDo text={said.fix} />}
              <p>
                <a href={link("events", [], { f: `reason:${name}` })}>
                  {`${numberText(count)} ${count === 1 ? "event" : "events"}`}
                </a>
              </p>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
