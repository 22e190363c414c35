import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import type { EventTotals } from "../../../src/state/journal/totals-answer.ts";
import { call, query } from "../../api/call.ts";
import { link, project } from "../../app/location.ts";
import { info, projectKey, projectName } from "../../app/sim.ts";
import { nodeCapture, nodeSnippet } from "../../copy/snippets.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { stat } from "../../feed/socket.ts";
import { Button, Code, Empty, Prose } from "../../parts/basics.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Fix, OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, explained, plain } from "../../parts/text.ts";

/** A notice when every event was dropped: the API responds with 200 to these as well. */
export function AllDropped({ rows, totals }: { rows: LiveRows<EventRow>; totals: EventTotals }) {
  const reason = rows.at(0)?.reason;
  if (totals.total === 0 || totals.dropped < totals.total || !reason) return null;
  const { sentence, fix } = explained(reason);
  return (
    <p class="row row-wide events-notice" role="status">
      <OutcomeBadge of="dropped">
        {totals.total === 1 ? "This event was dropped" : `All ${counted(totals.total, "event")} were dropped`}
      </OutcomeBadge>
      <span>
        The API responds with 200 anyway. The last one: <Prose text={`${plain(sentence)}.`} />{" "}
        <Fix class="muted" text={fix} />
      </span>
    </p>
  );
}

interface EmptyListProps {
  filter: string;
  isSearching: boolean;
  onFilter(text: string): void;
}

export function EmptyList({ filter, isSearching, onFilter }: EmptyListProps) {
  if (filter !== "") return <NoMatches isSearching={isSearching} onFilter={onFilter} />;
  return <NoEventsYet />;
}

function NoMatches({ isSearching, onFilter }: Omit<EmptyListProps, "filter">) {
  const hidden = project.value === undefined ? (stat.value?.events ?? 0) : 0;
  return (
    <Empty title={isSearching ? "Searching" : "No event matches the filter"}>
      {!isSearching && (
        <>
          <p>
            {hidden > 0 ? `It hides ${counted(hidden, "event")}. ` : ""}
            New matching events appear here immediately.
          </p>
          <p>
            <Button kind="main" onClick={() => onFilter("")}>
              Clear the filter
            </Button>
          </p>
        </>
      )}
    </Empty>
  );
}

function NoEventsYet() {
  const facts = info.value;
  const key = projectKey.value;
  const others = project.value === undefined ? 0 : (stat.value?.events ?? 0);
  return (
    <Empty title="No events yet">
      <p>Point an SDK at this sim. Each event appears here as it arrives, with its outcome and the reason.</p>
      {facts && key && <Code text={nodeSnippet(key, facts.url, nodeCapture)} label="posthog-node" />}
      <p>
        <a href={link("start")}>All ways to send events</a>
        {others > 0 && <span>{` · ${counted(others, "event")} in all projects`}</span>}
      </p>
    </Empty>
  );
}

export function ClearDialog({ onClose }: { onClose(): void }) {
  const id = project.value;
  const owner = id === undefined ? "all projects" : plain(projectName(id));
  return (
    <ConfirmDialog
      title="Clear events"
      does={`Clear the events of ${owner}`}
      isDanger
      act={() => call("DELETE", `events${query({ project: id })}`)}
      onClose={onClose}
    >
      <p>
        {`This deletes the events of ${owner} for all users of the sim. Persons and groups stay, and numbering continues.`}
      </p>
      <p class="muted">To see only new events, close this and choose “From now on”: this deletes nothing.</p>
    </ConfirmDialog>
  );
}
