import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import type { SimProblem } from "../../api/call.ts";
import { decodeChain, headerOf } from "../../api/requests.ts";
import { link } from "../../app/location.ts";
import { prettyJson } from "../../copy/quote.ts";
import { Badge, CopyButton, Facts, Time, Trouble } from "../../parts/basics.tsx";
import { numberText, plain, spanText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { placeIn, rawItem, type ShownRequest, senderOf } from "./event-facts.ts";
import { eventHref } from "./neighbours.ts";

function Chain({ request }: { request: ShownRequest }) {
  return (
    <ol class="event-chain" aria-label="Decoding steps">
      {decodeChain(request).map((step) => (
        <li key={step}>{plain(step)}</li>
      ))}
    </ol>
  );
}

const shownAround = 8;

/** Links to nearby events of the same request. */
function Others({ event, request }: { event: StoredEvent; request: ShownRequest }) {
  const place = placeIn(event, request);
  const from = Math.max(0, place - shownAround);
  const near = request.carried.slice(from, place + shownAround + 1);
  if (near.length < 2) return <>the only event</>;
  return (
    <span class="event-others">
      {`${numberText(place + 1)} of ${numberText(request.carried.length)}: `}
      {near.map(({ seq }) => (
        <a key={seq} href={eventHref(seq)} aria-current={seq === event.seq ? "true" : undefined}>
          {seq}
        </a>
      ))}
    </span>
  );
}

interface RequestProps {
  event: StoredEvent;
  request: ShownRequest | undefined;
  problem: SimProblem | undefined;
}

/** The tab with the event's request. */
export function RequestFacts({ event, request, problem }: RequestProps) {
  if (problem) return <Trouble problem={problem} />;
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const agent = headerOf(request, "user-agent");
  return (
    <Facts
      rows={{
        Request: <a href={link("requests", [request.n])}>{request.n}</a>,
        "Sent to": <code>{plain(`${request.method} ${request.target}`)}</code>,
        Place: <Others event={event} request={request} />,
        Decoded: <Chain request={request} />,
        SDK: plain(senderOf(event, request) ?? "unknown"),
        "User-Agent": agent && plain(agent),
        From: plain(request.peer),
        Arrival: <Time at={request.at} isExact />,
        Response: (
          <>
            {request.status === 0 ? "none" : request.status}{" "}
            <span class="muted">after {spanText(request.ms)}</span>{" "}
            {request.fault !== null && <Badge tone="bad">{plain(request.fault)}</Badge>}
          </>
        ),
      }}
    />
  );
}

/** The tab with the item as sent. */
export function Raw({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const item = rawItem(event, request);
  const whole = <a href={link("requests", [event.request])}>the whole request</a>;
  if (item === undefined) return <p class="muted">The item is not available separately; see {whole}.</p>;
  return (
    <div class="event-stack">
      <p class="event-line muted">
        <span>As sent, keys masked; see {whole}.</span>
        <CopyButton kind="quiet" label="Copy JSON" text={() => prettyJson(item)} />
      </p>
      <PayloadTree value={item} label="Item as sent" search open={2} />
    </div>
  );
}
