import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { Badge, Prose } from "../../parts/basics.tsx";
import { Fix } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { capital, type Finding, findingsFor, isAbout } from "./event-facts.ts";
import { eventHref } from "./neighbours.ts";

export interface FindingsPage {
  readonly findings: readonly Finding[];
  readonly behind: number;
}

/** Maximum time to wait for the linter, ms. */
const patience = 1_000;

/** The linter's findings for the event's project; undefined while loading. */
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
      {isAbout(event, finding) ? "Found in this event. " : `Found in other events of this name. `}
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
      <Fix text={finding.fix} />
      <Seen event={event} finding={finding} />
    </li>
  );
}

/** The tab with the linter's findings about the event, its name or its request. */
export function Findings({ event, page }: { event: StoredEvent; page: FindingsPage | undefined }) {
  if (event.project === null)
    return <p class="muted">The event belongs to no project, so it was not linted.</p>;
  if (!page) return <p class="muted">The linter is reading the events.</p>;
  const found = findingsFor(event, page.findings);
  return (
    <div class="event-stack">
      {page.behind > 0 && <p class="muted">The linter has {counted(page.behind, "event")} left to read.</p>}
      {found.length === 0 ? (
        <p class="muted">The linter found no problems with events of this name.</p>
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
