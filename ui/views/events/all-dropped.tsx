import type { EventRow } from "../../../src/model/row.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Prose } from "../../parts/prose.tsx";
import { counted, plain } from "../../parts/text.ts";
import { textOf } from "./outcome.ts";
import type { Tally } from "./tally.ts";

/** The API answers 200 for events that it drops: the page reports it. */
export function AllDropped({ rows, tally }: { rows: LiveRows<EventRow>; tally: Tally }) {
  const reason = rows.at(0)?.reason;
  if (tally.total === 0 || tally.sorts.dropped < tally.total || !reason) return null;
  const text = textOf(reason);
  return (
    <p class="events-notice" role="status">
      <OutcomeBadge of="dropped">
        {tally.total === 1 ? "This event was dropped" : `All ${counted(tally.total, "event")} were dropped`}
      </OutcomeBadge>
      <span>
        The API answers 200 anyway. The last one: <Prose text={`${text?.sentence ?? plain(reason)}.`} />
        {text && (
          <span class="muted">
            {" "}
            Fix: <Prose text={`${text.fix}.`} />
          </span>
        )}
      </span>
    </p>
  );
}
