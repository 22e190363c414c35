import { uuidV5 } from "../../../kernel/base/ids.ts";
import { type JsonObject, own, textIn } from "../../../kernel/base/json.ts";
import { applyConventions } from "./conventions.ts";
import type { OtlpSpan } from "./spans.ts";

const fromOperation = (operation: string): string =>
  operation === "chat" ? "$ai_generation" : operation === "embeddings" ? "$ai_embedding" : "$ai_span";

function fromVercel(operation: string): string {
  if (/\.do(?:Generate|Stream)$/.test(operation)) return "$ai_generation";
  return /^ai\.embed(?:Many)?\.doEmbed$/.test(operation) ? "$ai_embedding" : "$ai_span";
}

function fromRequestType(type: string): string {
  if (type === "chat" || type === "completion") return "$ai_generation";
  return type === "embedding" || type === "embeddings" ? "$ai_embedding" : "$ai_span";
}

const fromKind = (kind: string): string =>
  kind === "LLM" ? "$ai_generation" : kind === "EMBEDDING" ? "$ai_embedding" : "$ai_span";

/** What makes a span an AI span, and its event; the first fitting row decides. Upstream capture, otel/providers.rs. */
const providers: readonly {
  readonly prefixes: readonly string[];
  readonly by: readonly (readonly [attribute: string, eventOf: (value: string) => string])[];
}[] = [
  {
    prefixes: ["ai.", "eve."],
    by: [
      ["ai.operationId", fromVercel],
      ["gen_ai.operation.name", fromOperation],
    ],
  },
  { prefixes: ["pydantic_ai."], by: [] },
  { prefixes: ["traceloop.", "llm.request.type"], by: [["llm.request.type", fromRequestType]] },
  { prefixes: ["openinference."], by: [["openinference.span.kind", fromKind]] },
  { prefixes: ["gen_ai."], by: [["gen_ai.operation.name", fromOperation]] },
];

export function eventName({ attributes }: Pick<OtlpSpan, "attributes">): string | undefined {
  const keys = Object.keys(attributes);
  const provider = providers.find(({ prefixes }) => keys.some((key) => prefixes.some((it) => key.startsWith(it))));
  if (!provider) return undefined;
  const [found, eventOf] = provider.by.find(([it]) => Object.hasOwn(attributes, it)) ?? [];
  const value = found === undefined ? undefined : attributes[found];
  return typeof value === "string" && eventOf ? eventOf(value) : "$ai_span";
}

const spanIdKeys = [
  "ai.telemetry.metadata.posthog_distinct_id",
  "ai.settings.context.posthog_distinct_id",
  "posthog.distinct_id",
  "user.id",
];
const resourceIdKeys = ["posthog.distinct_id", "user.id"];
const sessionKeys = [
  "$ai_session_id",
  "ai.telemetry.metadata.$ai_session_id",
  "ai.settings.context.$ai_session_id",
  "eve.session.id",
  "anthropic.session.id",
  "gen_ai.conversation.id",
];

const firstText = (attributes: JsonObject, keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const text = textIn(attributes, key);
    if (text !== "") return text;
  }
  return undefined;
};

/** The service's namespace: ids of spans without a user are the same here and there. */
const derivedIds = "392e81d5-3d13-4a6f-b541-bdbf6c865e56";

/** The user, else an id for the session or the trace. Upstream capture, otel/identity.rs. */
function distinctId({ attributes, resource, traceId }: OtlpSpan, fallback: string): string {
  const user = firstText(attributes, spanIdKeys) ?? firstText(resource, resourceIdKeys);
  if (user !== undefined) return user;
  const session = firstText({ ...resource, ...attributes }, sessionKeys);
  if (session !== undefined) return uuidV5(derivedIds, `session:${session}`);
  return /[^0]/.test(traceId) ? uuidV5(derivedIds, `trace:${traceId}`) : fallback;
}

/** What an SDK adds to a resource by itself, and the service leaves out. */
const isNoise = (key: string): boolean => /^(?:host|process|os|telemetry)\./.test(key);

const statusKeys = [
  ...["$ai_http_status", "http.response.status_code", "http.status_code", "http.status", "status_code"],
  ...["error.status_code", "exception.status_code"],
];

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 100 && value <= 599;

const statusIn = (attributes: JsonObject): number | undefined =>
  statusKeys.map((key) => Number(own(attributes, key) ?? Number.NaN)).find(isStatus);

/** `Provider failed with HTTP 429` → 429 */
function statusInText(text: string | undefined): number | undefined {
  const [, digits] = /(?:http|status)\D{0,40}(\d{3})(?!\d)/i.exec(text?.slice(0, 4_000) ?? "") ?? [];
  return digits !== undefined && isStatus(Number(digits)) ? Number(digits) : undefined;
}

function errorProperties({ error, exception, attributes }: OtlpSpan): JsonObject {
  if (error === undefined) return {};
  const [type, message] = ["exception.type", "exception.message"].map((key) => textIn(exception, key));
  const described = [type, message].filter(Boolean).join(": ");
  const status = statusIn(exception) ?? statusInText(message) ?? statusIn(attributes) ?? statusInText(error) ?? 500;
  return {
    $ai_is_error: true,
    $ai_error: own(attributes, "$ai_error") ?? (described || error || "OpenTelemetry span status error"),
    $ai_http_status: own(attributes, "$ai_http_status") ?? status,
  };
}

function propertiesOf(span: OtlpSpan): JsonObject {
  const given = {
    ...Object.fromEntries(Object.entries(span.resource).filter(([key]) => !isNoise(key))),
    ...span.attributes,
  };
  const { "posthog.geoip_disable": noPlace = true, ...rest } = given;
  return {
    $geoip_disable: noPlace,
    $lib: "posthog-otel",
    ...(span.scopeVersion !== "" && { $lib_version: span.scopeVersion }),
    ...rest,
    $ai_trace_id: span.traceId,
    $ai_span_id: span.spanId,
    ...(span.parentId !== "" && { $ai_parent_id: span.parentId }),
    $ai_ingestion_source: "otel",
    ...(span.name !== "" && { $otel_span_name: span.name }),
    $otel_start_time_unix_nano: span.start,
    $otel_end_time_unix_nano: span.end,
    ...errorProperties(span),
  };
}

function timeOf({ start }: OtlpSpan): string | undefined {
  const ms = Number(start) / 1e6;
  return ms > 0 && ms < Date.UTC(9999, 0, 1) ? new Date(ms).toISOString() : undefined;
}

/** An item as of /batch, and whether the service keeps it. */
export interface SpanEvent {
  readonly item: JsonObject;
  readonly isAi: boolean;
}

/**
 * The event of a span. The service leaves out spans that are not about AI; here they are events that are dropped, with
 * little of what they carry.
 * @param fallback distinct id of spans without a user, session and trace
 */
export function eventOf(span: OtlpSpan, fallback: string): SpanEvent {
  const timestamp = timeOf(span);
  const about = { distinct_id: distinctId(span, fallback), ...(timestamp !== undefined && { timestamp }) };
  const event = eventName(span);
  if (event === undefined) {
    const properties = { $otel_span_name: span.name, $ai_trace_id: span.traceId, $ai_span_id: span.spanId };
    return { isAi: false, item: { event: "$otel_span", ...about, properties } };
  }
  const draft = { event, properties: propertiesOf(span) };
  applyConventions(draft);
  return { isAi: true, item: { ...draft, ...about } };
}
