import { isObject } from "../../kernel/base/json.ts";
import { dropReasons, type ReasonText, warnings } from "./drop-reasons.ts";
import { openV1 } from "./items.ts";
import type { CaptureResult } from "./request-shapes.ts";
import type { TrafficLine } from "./traffic.ts";

const v1Path = /^\/+i\/v1\/(?:analytics|ai)\/events\/?(?:\?|$)/;

/** Details of results that only the service gives, or a fault. Upstream capture, v1/analytics/constants.rs. */
const serviceDetails: Readonly<Record<string, ReasonText>> = {
  billing_limit_exceeded: { sentence: "the project has used up its events", fix: "raise the billing limit" },
  event_restriction_drop: { sentence: "the service drops this event of the project", fix: "contact its support" },
  ai_byte_rate_limited: { sentence: "the project sends too many bytes of AI events", fix: "send less" },
  ai_event_too_big: { sentence: "the AI event is too large", fix: "shorten its inputs and outputs" },
  not_persisted: { sentence: "the service could not store the event", fix: "send it again; SDKs do" },
};

const known = new Map<string, ReasonText>(Object.entries({ ...serviceDetails, ...dropReasons, ...warnings }));

/**
 * What a response of capture v1 reports for each event; null for other requests, and where the response is not kept.
 * The sim may drop an event after its result `ok`, as the service does: then the explanation has the reason.
 */
export function resultsOf({ target, reply, body, events = [] }: TrafficLine): CaptureResult[] | null {
  const results = v1Path.test(target) && isObject(reply) ? reply.results : undefined;
  if (!isObject(results)) return null;
  const items = (body === undefined ? [] : openV1(body).items).map((it) => (isObject(it) ? it : {}));
  const places = new Map(items.map(({ uuid }, i) => [String(uuid).trim().toLowerCase(), i]));
  return Object.entries(results).map(([uuid, it], i) => {
    const at = places.get(uuid.toLowerCase()) ?? i;
    const name = items[at]?.event;
    const details = isObject(it) && typeof it.details === "string" ? it.details : null;
    const { dropped, warnings: warned = [] } = events[at] ?? {};
    const code = dropped ?? warned[0] ?? details;
    const text = code === null ? undefined : known.get(code);
    return {
      uuid,
      event: typeof name === "string" ? name : "",
      result: isObject(it) && typeof it.result === "string" ? it.result : "",
      details,
      explanation: text ? `${text.sentence}; ${text.fix}` : null,
    };
  });
}
