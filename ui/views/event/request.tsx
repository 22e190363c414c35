import type { StoredEvent } from "../../../src/model/stored-event.ts";
import type { SimProblem } from "../../api/call.ts";
import { decodeChain, headerOf } from "../../api/requests.ts";
import { link } from "../../app/location.ts";
import { Badge, Facts, Time, Trouble } from "../../parts/basics.tsx";
import { numberText, plain, spanText } from "../../parts/text.ts";
import { eventHref } from "./place.ts";
import { placeIn, type ShownRequest, senderOf } from "./steps.ts";

/** How the bytes became JSON, step by step. */
function Chain({ request }: { request: ShownRequest }) {
  return (
    <ol class="event-chain" aria-label="How it was decoded">
      {decodeChain(request).map((step) => (
        <li key={step}>{plain(step)}</li>
      ))}
    </ol>
  );
}

const shownAround = 8;

/** The events of the same request, as many as are near. */
function Others({ event, request }: { event: StoredEvent; request: ShownRequest }) {
  const place = placeIn(event, request);
  const from = Math.max(0, place - shownAround);
  const near = request.carried.slice(from, place + shownAround + 1);
  if (near.length < 2) return <>alone in it</>;
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

/** The request that the event came in. */
export function RequestFacts({ event, request, problem }: RequestProps) {
  if (problem) return <Trouble problem={problem} />;
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const agent = headerOf(request, "user-agent");
  return (
    <Facts
      rows={[
        [
          "Request",
          <a key="link" href={link("requests", [request.n])}>
            {request.n}
          </a>,
        ],
        ["Sent to", <code key="target">{plain(`${request.method} ${request.target}`)}</code>],
        ["Place", <Others key="others" event={event} request={request} />],
        ["Decoded", <Chain key="chain" request={request} />],
        ["SDK", plain(senderOf(event, request) ?? "unknown")],
        agent === undefined ? undefined : ["User-Agent", plain(agent)],
        ["From", plain(request.peer)],
        ["Arrival", <Time key="at" at={Date.parse(request.at)} isExact />],
        [
          "Answer",
          <span key="answer">
            {request.status === 0 ? "none" : request.status}{" "}
            <span class="muted">after {spanText(request.ms)}</span>{" "}
            {request.fault !== null && <Badge tone="bad">{plain(request.fault)}</Badge>}
          </span>,
        ],
      ]}
    />
  );
}
