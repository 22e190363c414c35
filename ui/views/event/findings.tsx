import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { Badge } from "../../parts/basics.tsx";
import { Prose } from "../../parts/prose.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { eventHref } from "./place.ts";
import { capital, type Finding, findingsFor, isAbout } from "./steps.ts";

export interface FindingsPage {
  readonly findings: readonly Finding[];
  readonly behind: number;
}

/** The page does not wait longer than this for events that the linter has not seen yet, ms. */
const patience = 1_000;

/** What the linter says of the event's project; undefined until it has answered. */
export const useFindings = (event: StoredEvent | undefined): FindingsPage | undefined => {
  const project = event?.project ?? null;
  const path = project === null ? null : `lint${query({ project, max_ms: patience })}`;
  return useResource<FindingsPage>(path, { revision: event?.seq }).data;
};

function Seen({ event, finding }: { event: StoredEvent; finding: Finding }) {
  const { first_seq: first, last_seq: last, count } = finding;
  const others = [first, last].filter((seq, i, all) => seq !== null && all.indexOf(seq) === i);
  return (
    <p class="muted">
      {isAbout(event, finding) ? "This event shows it. " : `Other events of this name show it. `}
      Seen {counted(count, "time")}
      {others.length > 0 && ", "}
      {others.map((seq, i) => (
        <span key={seq}>
          {i > 0 && " to "}
          <a href={eventHref(seq ?? 0)}>{`event ${numberText(seq ?? 0)}`}</a>
        </span>
      ))}
    </p>
  );
}

function One({ event, finding }: { event: StoredEvent; finding: Finding }) {
  return (
    <li class="event-finding">
      <p>
        <Badge tone={finding.severity === "warning" ? "odd" : "note"}>{finding.severity}</Badge>{" "}
        <strong>
          <Prose text={capital(finding.sentence)} />
        </strong>{" "}
        <code>{finding.code}</code>
      </p>
      <p class="event-detail">{plain(finding.detail)}</p>
      <p>
        Fix: <Prose text={`${finding.fix}.`} />
      </p>
      <Seen event={event} finding={finding} />
    </li>
  );
}

/** What the linter found about the event, its name, or its request. */
export function Findings({ event, page }: { event: StoredEvent; page: FindingsPage | undefined }) {
  if (event.project === null)
    return <p class="muted">It belongs to no project: the linter has not read it.</p>;
  if (!page) return <p class="muted">The linter reads what came.</p>;
  const found = findingsFor(event, page.findings);
  return (
    <div class="event-stack">
      {page.behind > 0 && <p class="muted">The linter has {counted(page.behind, "event")} still to read.</p>}
      {found.length === 0 ? (
        <p class="muted">The linter has found nothing wrong with events of this name.</p>
      ) : (
        <ul class="event-stack">
          {found.map((finding) => (
            <One key={`${finding.code} ${finding.event} ${finding.detail}`} event={event} finding={finding} />
          ))}
        </ul>
      )}
    </div>
  );
}
