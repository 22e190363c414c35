import { useState } from "preact/hooks";
import { explain } from "../../../src/model/outcome.ts";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import type { RequestInFull } from "../../api/requests.ts";
import { link } from "../../app/location.ts";
import { Button, Section } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Prose } from "../../parts/prose.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";

/** Events that are listed at once. */
const page = 50;

/** The events that a request carried, and what became of each. */
export function Carried({ request }: { request: RequestInFull }) {
  const [shown, setShown] = useState(page);
  const { carried, dropped } = request;
  const left = carried.length - shown;
  return (
    <Section
      title={`${counted(carried.length, "event")}${dropped > 0 ? `, ${numberText(dropped)} dropped` : ""}`}
    >
      <table class="table">
        <thead>
          <tr>
            <th scope="col" class="number">
              No.
            </th>
            <th scope="col">Event</th>
            <th scope="col" class="requests-id">
              Distinct id
            </th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {carried.slice(0, shown).map((event) => (
            <tr key={event.seq}>
              <td class="number">{event.seq}</td>
              <td>
                <a href={link("events", [event.seq])}>
                  {event.event === "" ? "(no name)" : plain(event.event, 200)}
                </a>
              </td>
              <td>{plain(event.distinct_id, 200)}</td>
              <td>
                <Outcome event={event} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <Button onClick={() => setShown(shown + 10 * page)}>Show more of {numberText(carried.length)}</Button>
      )}
    </Section>
  );
}

function Outcome({ event }: { event: StoredEvent }) {
  if (event.reason !== null) {
    const { sentence, fix } = explain(event.reason);
    return (
      <>
        <OutcomeBadge of="dropped" /> <Prose text={`${sentence}.`} />{" "}
        <span class="muted">
          Fix: <Prose text={`${fix}.`} />
        </span>
      </>
    );
  }
  if (event.warnings.length > 0)
    return (
      <>
        <OutcomeBadge of="warned" />{" "}
        <Prose text={`${event.warnings.map((it) => explain(it).sentence).join("; ")}.`} />
      </>
    );
  return <OutcomeBadge of="kept" />;
}
