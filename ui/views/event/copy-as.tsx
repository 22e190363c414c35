import { useMemo, useState } from "preact/hooks";
import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import { info } from "../../app/sim.ts";
import { type CopyContext, type CopyRow, copyGroups, copyRows } from "../../copy/rows.ts";
import { Button, CopyButton } from "../../parts/basics.tsx";
import { numberText } from "../../parts/text.ts";
import { type ShownRequest, sendableItem } from "./event-facts.ts";

const keyOf = ({ project }: StoredEvent): string =>
  info.value?.projects.find((it) => it.id === project)?.api_key ?? info.value?.project_api_key ?? "";

const contextOf = (event: StoredEvent, request: ShownRequest | undefined): CopyContext => ({
  url: info.value?.url ?? location.origin,
  apiKey: keyOf(event),
  item: request && sendableItem(event, request),
});

/** Longer texts are truncated on screen, but copied in full. */
const mostDrawn = 20_000;

function Text({ row, event, context }: { row: CopyRow; event: StoredEvent; context: CopyContext }) {
  const text = useMemo(() => row.text(event, context), [row, event, context]);
  const isCut = text.length > mostDrawn;
  return (
    <figure class="code event-code">
      <figcaption class="event-line">
        <span>
          {row.label}
          {isCut && ` · ${numberText(text.length)} characters, of which ${numberText(mostDrawn)} are shown`}
        </span>
        <CopyButton kind="main" text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>
        <code>{isCut ? text.slice(0, mostDrawn) : text}</code>
      </pre>
    </figure>
  );
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
