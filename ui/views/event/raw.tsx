import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { link } from "../../app/location.ts";
import { prettyJson } from "../../copy/quote.ts";
import { CopyButton } from "../../parts/basics.tsx";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { rawItem, type ShownRequest } from "./steps.ts";

/** The item as its sender wrote it, before anything was added or taken away. */
export function Raw({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const item = rawItem(event, request);
  const whole = <a href={link("requests", [event.request])}>the whole request</a>;
  if (item === undefined)
    return <p class="muted">The item by itself is not there; what was kept is in {whole}.</p>;
  return (
    <div class="event-stack">
      <p class="event-line muted">
        <span>As it was sent, keys masked; see {whole}.</span>
        <CopyButton kind="quiet" label="Copy JSON" text={() => prettyJson(item)} />
      </p>
      <PayloadTree value={item} label="Item as sent" search open={2} />
    </div>
  );
}
