import type { EventRow } from "../../../src/model/row.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { Badge } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";
import { textOf } from "./outcome.ts";
import type { Tally } from "./tally.ts";

/** The API answers 200 for events that it drops, so somebody must say it. */
export function AllDropped({ rows, tally }: { rows: LiveRows<EventRow>; tally: Tally }) {
  const reason = rows.at(0)?.reason;
  if (tally.total === 0 || tally.sorts.dropped < tally.total || !reason) return null;
  const text = textOf(reason);
  return (
    <p class="events-notice" role="status">
      <Badge tone="bad">
        {tally.total === 1 ? "This event was dropped" : `All ${counted(tally.total, "event")} were dropped`}
      </Badge>
      <span>
        {`The API answers 200 all the same. The last one: ${text?.sentence ?? plain(reason)}.`}
        {text && <span class="muted">{` To mend it: ${text.fix}.`}</span>}
      </span>
    </p>
  );
}
