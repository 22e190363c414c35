import { link, project } from "../../app/location.ts";
import { info } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Button, Code, Empty } from "../../parts/basics.tsx";
import { counted, numberText } from "../../parts/text.ts";
import { snippetFor } from "./snippet.ts";

interface NothingProps {
  filter: string;
  isSearching: boolean;
  onFilter(text: string): void;
}

/** Why the list is empty, and what to do about it. */
export function Nothing({ filter, isSearching, onFilter }: NothingProps) {
  if (filter !== "") return <NothingPasses isSearching={isSearching} onFilter={onFilter} />;
  return <NothingYet />;
}

function NothingPasses({ isSearching, onFilter }: Omit<NothingProps, "filter">) {
  const hidden = project.value === undefined ? (stat.value?.events ?? 0) : 0;
  return (
    <Empty title={isSearching ? "Searching" : "Nothing passes the filter"}>
      {!isSearching && (
        <>
          <p>
            {hidden > 0 ? `It hides ${numberText(hidden)} ${hidden === 1 ? "event" : "events"}. ` : ""}
            What comes and passes it appears here at once.
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

function NothingYet() {
  const facts = info.value;
  const { id } = { id: project.value ?? facts?.project_id };
  const key = facts?.projects.find((it) => it.id === id)?.api_key ?? facts?.project_api_key;
  const others = project.value === undefined ? 0 : (stat.value?.events ?? 0);
  return (
    <Empty title="No events yet">
      <p>Point an SDK at this sim. Each event appears here as it arrives, with what became of it and why.</p>
      {facts && key && <Code text={snippetFor(facts.url, key)} label="posthog-node" />}
      <p>
        <a href={link("start")}>All the ways to send one</a>
        {others > 0 && <span>{` · ${counted(others, "event")} in all projects together`}</span>}
      </p>
    </Empty>
  );
}
