import { useMemo, useState } from "preact/hooks";
import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import { info } from "../../app/sim.ts";
import { type CopyContext, type CopyRow, copyGroups, copyRows } from "../../copy/rows.ts";
import { Button, Code } from "../../parts/basics.tsx";
import { type ShownRequest, sendableItem } from "./event-facts.ts";

const keyOf = ({ project }: StoredEvent): string =>
  info.value?.projects.find((it) => it.id === project)?.api_key ?? info.value?.project_api_key ?? "";

const contextOf = (event: StoredEvent, request: ShownRequest | undefined): CopyContext => ({
  url: info.value?.url ?? location.origin,
  apiKey: keyOf(event),
  item: request && sendableItem(event, request),
});

function Text({ row, event, context }: { row: CopyRow; event: StoredEvent; context: CopyContext }) {
  const text = useMemo(() => row.text(event, context), [row, event, context]);
  return <Code text={text} label={row.label} kind="main" most={20_000} />;
}

const groups = Object.keys(copyGroups) as CopyRow["group"][];

/** The tab with snippets of the event. */
export function CopyAs({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  const [chosen, setChosen] = useState("curl");
  const context = useMemo(() => contextOf(event, request), [event, request]);
  const row = copyRows.find((it) => it.id === chosen);
  return (
    <div class="event-stack">
      {groups.map((group) => (
        <fieldset key={group} class="event-choices">
          <legend class="muted">{copyGroups[group]}</legend>
          {copyRows
            .filter((it) => it.group === group)
            .map((it) => (
              <Button key={it.id} isPressed={it.id === chosen} onClick={() => setChosen(it.id)}>
                {it.label}
              </Button>
            ))}
        </fieldset>
      ))}
      {row && <Text key={row.id} row={row} event={event} context={context} />}
    </div>
  );
}
