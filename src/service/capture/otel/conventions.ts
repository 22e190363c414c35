import { isObject, isTooDeep, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { parseBounded } from "../../../kernel/base/json-bounds.ts";

/** An event on its way from a span's attributes to `$ai_…` properties; its rules change it in place. */
export interface AiDraft {
  event: string;
  readonly properties: JsonObject;
}

type Properties = AiDraft["properties"];

/** Text with JSON as its value; other values, and text that is no JSON, as they are. */
function parsed(value: Json): Json {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  try {
    const json: Json = parseBounded(value);
    return isTooDeep(json, 64) ? value : json;
  } catch {
    return value;
  }
}

function take(properties: Properties, key: string): Json | undefined {
  const value = own(properties, key);
  delete properties[key];
  return value;
}

function setMissing(properties: Properties, key: string, value: Json | undefined): void {
  if (value !== undefined && own(properties, key) === undefined) properties[key] = value;
}

const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter((it) => isObject(it)) : [];

const filled = (value: Json | undefined): Json | undefined => (value === "" ? undefined : value);

/** Attributes that become a property, whatever it was before. Messages may be text with JSON. */
const named: readonly (readonly [attribute: string, property: string])[] = [
  ["gen_ai.input.messages", "$ai_input"],
  ["gen_ai.output.messages", "$ai_output_choices"],
  ["gen_ai.usage.input_tokens", "$ai_input_tokens"],
  ["gen_ai.usage.output_tokens", "$ai_output_tokens"],
  ["gen_ai.usage.cache_read.input_tokens", "$ai_cache_read_input_tokens"],
  ["gen_ai.usage.cache_creation.input_tokens", "$ai_cache_creation_input_tokens"],
  ["gen_ai.response.model", "$ai_model"],
  ["gen_ai.provider.name", "$ai_provider"],
  ["server.address", "$ai_base_url"],
  ["telemetry.sdk.name", "$ai_lib"],
  ["telemetry.sdk.version", "$ai_lib_version"],
  ["$otel_span_name", "$ai_span_name"],
];

/** Attributes that become a property which is still missing; they go in any case. */
const otherwise: readonly (readonly [attribute: string, property: string])[] = [
  ["gen_ai.system", "$ai_provider"],
  ["gen_ai.request.model", "$ai_model"],
  ["gen_ai.usage.prompt_tokens", "$ai_input_tokens"],
  ["gen_ai.usage.completion_tokens", "$ai_output_tokens"],
];

const stripped = [
  ...["telemetry.sdk.language", "gen_ai.operation.name", "posthog.ai.debug", "user.id"],
  ...["posthog.distinct_id", "llm.request.type"],
];

/** Messages of the older conventions: Logfire writes the span's events as one attribute. */
const olderRoles: Readonly<Record<string, string>> = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
};

const picked = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(from, key) ? [[key, from[key] ?? null]] : [])));

function olderMessages(properties: Properties): void {
  const entries = objectsOf(parsed(take(properties, "events") ?? null));
  const inputs: JsonObject[] = [];
  const choices: JsonObject[] = [];
  for (const entry of entries) {
    const name = own(entry, "event.name");
    const role = typeof name === "string" && Object.hasOwn(olderRoles, name) ? olderRoles[name] : undefined;
    const content = picked(entry, ["role", "content", "tool_calls", "tool_call_id"]);
    if (role !== undefined) inputs.push({ role, ...content });
    if (name === "gen_ai.choice") choices.push(isObject(entry.message) ? entry.message : content);
  }
  if (inputs.length > 0) setMissing(properties, "$ai_input", inputs);
  if (choices.length > 0) setMissing(properties, "$ai_output_choices", choices);
}

/** The system prompt, which Gemini's instrumentation keeps apart, becomes the first message. */
function systemInstructions(properties: Properties): void {
  const value = parsed(take(properties, "gen_ai.system_instructions") ?? null);
  if (value === null) return;
  const texts = objectsOf(value).flatMap(({ type, content }) =>
    type === "text" && typeof content === "string" && content !== "" ? [content] : [],
  );
  const content = Array.isArray(value) ? texts.join("\n\n") : typeof value === "string" ? value : JSON.stringify(value);
  if (content === "") return;
  const input = own(properties, "$ai_input");
  const first = Array.isArray(input) ? input[0] : undefined;
  if (isObject(first) && first.role === "system") return;
  if (Array.isArray(input)) properties.$ai_input = [{ role: "system", content }, ...input];
  else setMissing(properties, "$ai_input", [{ role: "system", content }]);
}

function latency(properties: Properties): void {
  const [start, end] = [take(properties, "$otel_start_time_unix_nano"), take(properties, "$otel_end_time_unix_nano")];
  if (!/^\d{1,20}$/.test(String(start)) || !/^\d{1,20}$/.test(String(end))) return;
  const nanoseconds = BigInt(String(end)) - BigInt(String(start));
  if (nanoseconds > 0n) properties.$ai_latency = Number(nanoseconds) / 1e9;
}

const requestTypes: Readonly<Record<string, string>> = {
  chat: "$ai_generation",
  completion: "$ai_generation",
  embedding: "$ai_embedding",
  embeddings: "$ai_embedding",
};

/** What holds for the spans of all libraries. Upstream nodejs, ingestion/pipelines/ai/otel/attribute-mapping.ts. */
function commonRules(draft: AiDraft): void {
  const { properties } = draft;
  const type = own(properties, "llm.request.type");
  if (draft.event === "$ai_span" && typeof type === "string" && Object.hasOwn(requestTypes, type))
    draft.event = requestTypes[type] ?? draft.event;
  for (const [attribute, property] of named) {
    const value = take(properties, attribute);
    if (value === undefined) continue;
    properties[property] = property === "$ai_input" || property === "$ai_output_choices" ? parsed(value) : value;
  }
  for (const [attribute, property] of otherwise) setMissing(properties, property, take(properties, attribute));
  olderMessages(properties);
  systemInstructions(properties);
  latency(properties);
  if (draft.event === "$ai_span" && !own(properties, "$ai_parent_id")) draft.event = "$ai_trace";
  for (const key of stripped) delete properties[key];
}

/** Lists that are flattened to attributes, `gen_ai.prompt.0.role`, as objects; the attributes go. */
function indexed(properties: Properties, prefix: string, nested?: string): JsonObject[] | undefined {
  const entries = new Map<number, JsonObject>();
  const inner = new Map<number, Map<number, JsonObject>>();
  const shape = new RegExp(`^(\\d{1,6})\\.(?:${nested === undefined ? "(?!)" : nested}\\.(\\d{1,6})\\.)?(.+)$`);
  for (const key of Object.keys(properties)) {
    const [, index, place, name = ""] = (key.startsWith(prefix) && shape.exec(key.slice(prefix.length))) || [];
    if (index === undefined) continue;
    const value = take(properties, key) ?? null;
    const entry = entries.get(Number(index)) ?? {};
    entries.set(Number(index), entry);
    if (place === undefined) {
      Object.assign(entry, Object.fromEntries([[name, value]]));
      continue;
    }
    const group = inner.get(Number(index)) ?? new Map<number, JsonObject>();
    inner.set(Number(index), group);
    group.set(Number(place), { ...group.get(Number(place)), ...Object.fromEntries([[name, value]]) });
  }
  const inOrder = <T>(map: Map<number, T>): [number, T][] => [...map].toSorted(([a], [b]) => a - b);
  if (entries.size === 0) return undefined;
  return inOrder(entries).map(([index, entry]) => {
    const group = inner.get(index);
    return group ? { ...entry, tool_calls: inOrder(group).map(([, it]) => it) } : entry;
  });
}

function traceloop({ properties }: AiDraft): void {
  setMissing(properties, "$ai_input", indexed(properties, "gen_ai.prompt.", "tool_calls"));
  setMissing(properties, "$ai_output_choices", indexed(properties, "gen_ai.completion.", "tool_calls"));
  setMissing(properties, "$ai_tools", indexed(properties, "llm.request.functions."));
}

/** OpenInference's names in a message without their prefixes. */
function openMessages(properties: Properties, prefix: string): JsonObject[] | undefined {
  const bare = (it: JsonObject, from: RegExp): JsonObject =>
    Object.fromEntries(Object.entries(it).map(([key, value]) => [key.replace(from, ""), value]));
  return indexed(properties, prefix, "message\\.tool_calls")?.map(({ tool_calls, ...rest }) => {
    const calls = objectsOf(tool_calls).map((it) => {
      const call = bare(it, /^tool_call\./);
      return {
        id: call.id ?? null,
        type: "function",
        function: bare(picked(call, ["function.name", "function.arguments"]), /^function\./),
      };
    });
    return { ...bare(rest, /^message\./), ...(calls.length > 0 && { tool_calls: calls }) };
  });
}

const openInferenceNames: readonly (readonly [attribute: string, property: string])[] = [
  ["llm.model_name", "$ai_model"],
  ["llm.provider", "$ai_provider"],
  ["llm.system", "$ai_provider"],
  ["llm.token_count.prompt", "$ai_input_tokens"],
  ["llm.token_count.completion", "$ai_output_tokens"],
  ["llm.token_count.prompt_details.cache_read", "$ai_cache_read_input_tokens"],
  ["llm.token_count.prompt_details.cache_write", "$ai_cache_creation_input_tokens"],
  ["llm.finish_reason", "$ai_stop_reason"],
  ["session.id", "$ai_session_id"],
];

const messageOf = (role: string, content: Json | undefined): Json | undefined =>
  typeof content === "string" ? [{ role, content }] : undefined;

function openInference({ properties }: AiDraft): void {
  for (const [attribute, property] of openInferenceNames) setMissing(properties, property, take(properties, attribute));
  setMissing(properties, "$ai_input", openMessages(properties, "llm.input_messages."));
  setMissing(properties, "$ai_output_choices", openMessages(properties, "llm.output_messages."));
  const tools = indexed(properties, "llm.tools.")?.map((it) => parsed(it["tool.json_schema"] ?? null));
  setMissing(properties, "$ai_tools", tools);
  setMissing(properties, "$ai_input", messageOf("user", own(properties, "input.value")));
  setMissing(properties, "$ai_output_choices", messageOf("assistant", own(properties, "output.value")));
  const parameters = parsed(own(properties, "llm.invocation_parameters") ?? null);
  if (isObject(parameters)) setMissing(properties, "$ai_model_parameters", parameters);
}

const vercelWrappers = new Set(["ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"]);

/** Before the common rules: Vercel's prompt and answer under the names of the conventions. */
function vercelMessages({ properties }: AiDraft): void {
  const prompt = parsed(own(properties, "ai.prompt") ?? null);
  const messages = take(properties, "ai.prompt.messages");
  setMissing(properties, "gen_ai.input.messages", messages);
  if (Array.isArray(prompt)) setMissing(properties, "gen_ai.input.messages", prompt);
  else setMissing(properties, "gen_ai.input.messages", messageOf("user", filled(prompt)));
  setMissing(properties, "gen_ai.output.messages", messageOf("assistant", take(properties, "ai.response.text")));
}

/** The question and the last answer as the state of a span that wraps generations. */
function wrapperStates({ event, properties }: AiDraft, isWrapper: boolean): void {
  if (!isWrapper || event === "$ai_generation") return;
  const question = objectsOf(own(properties, "$ai_input")).find(({ role }) => role === "user");
  setMissing(properties, "$ai_input_state", question);
  const answers = own(properties, "$ai_output_choices");
  setMissing(properties, "$ai_output_state", Array.isArray(answers) ? answers.at(-1) : undefined);
}

function toolStates(properties: Properties, name: string, input: string, output: string): void {
  const [tool, asked, answered] = [name, input, output].map((key) => filled(take(properties, key)));
  if (tool !== undefined) properties.$ai_span_name = tool;
  if (asked !== undefined) properties.$ai_input_state = parsed(asked);
  if (answered !== undefined) properties.$ai_output_state = parsed(answered);
}

function vercel(draft: AiDraft): void {
  const { properties } = draft;
  const operation = own(properties, "ai.operationId");
  wrapperStates(draft, draft.event === "$ai_trace" || (typeof operation === "string" && vercelWrappers.has(operation)));
  if (operation === "ai.toolCall") toolStates(properties, "ai.toolCall.name", "ai.toolCall.args", "ai.toolCall.result");
  setMissing(properties, "functionId", filled(own(properties, "ai.telemetry.functionId")));
  for (const key of ["$ai_session_id", "$ai_prompt_name", "$ai_prompt_version"])
    setMissing(properties, key, filled(own(properties, `ai.telemetry.metadata.${key}`)));
  setMissing(properties, "posthog_distinct_id", filled(own(properties, "ai.telemetry.metadata.posthog_distinct_id")));
  const reasons = own(properties, "gen_ai.response.finish_reasons");
  setMissing(properties, "$ai_stop_reason", own(properties, "ai.response.finishReason"));
  setMissing(properties, "$ai_stop_reason", Array.isArray(reasons) ? reasons[0] : undefined);
}

function pydantic(draft: AiDraft): void {
  const { properties } = draft;
  setMissing(properties, "$ai_span_name", own(properties, "logfire.msg"));
  const messages = objectsOf(parsed(take(properties, "pydantic_ai.all_messages") ?? null));
  const result = take(properties, "final_result");
  if (draft.event === "$ai_trace" || messages.length > 0) {
    setMissing(
      properties,
      "$ai_input_state",
      messages.find(({ role }) => role === "user"),
    );
    const last = messages.findLast(({ role }) => role !== "user" && role !== "system");
    setMissing(properties, "$ai_output_state", result === undefined ? last : parsed(result));
    const agent = take(properties, "gen_ai.agent.name") ?? take(properties, "agent_name");
    if (agent !== undefined) properties.$ai_span_name = agent;
    setMissing(properties, "$ai_model", own(properties, "model_name"));
  }
  if (draft.event === "$ai_span") toolStates(properties, "gen_ai.tool.name", "tool_arguments", "tool_response");
}

/** The libraries whose spans need more than the common rules, in the order of the service; the first that fits. */
const libraries: readonly {
  readonly name: string;
  readonly marks: readonly string[];
  readonly before?: (draft: AiDraft) => void;
  readonly after: (draft: AiDraft) => void;
  /** Attributes that go, by name, or by prefix with a final dot. */
  readonly strips: readonly string[];
}[] = [
  {
    name: "pydantic-ai",
    marks: ["pydantic_ai.all_messages", "logfire.msg", "logfire.json_schema", "model_request_parameters"],
    after: pydantic,
    strips: [
      ...["logfire.json_schema", "logfire.msg", "operation.cost", "model_request_parameters", "model_name"],
      ...["gen_ai.usage.details.input_tokens", "gen_ai.usage.details.output_tokens"],
    ],
  },
  {
    name: "traceloop",
    marks: ["llm.request.type", "traceloop.span.kind", "traceloop.entity.name"],
    after: traceloop,
    strips: [
      ...["traceloop.span.kind", "traceloop.entity.", "traceloop.workflow.name", "llm.is_streaming"],
      ...["llm.usage.total_tokens", "llm.response.finish_reason", "llm.response.stop_reason"],
      "traceloop.association.properties.",
    ],
  },
  {
    name: "vercel-ai",
    marks: ["ai.operationId", "ai.telemetry.functionId"],
    before: vercelMessages,
    after: vercel,
    strips: [
      ...["ai.operationId", "ai.telemetry.", "ai.model.", "ai.settings.", "ai.usage.", "ai.response.", "ai.prompt"],
      ...["ai.prompt.", "ai.value", "ai.values", "ai.embedding", "ai.embeddings", "ai.schema", "ai.schema."],
      ...["ai.toolCall.", "ai.request.headers.", "operation.name", "resource.name", "gen_ai.request.max_tokens"],
      ...["gen_ai.response.id", "gen_ai.response.finish_reasons"],
    ],
  },
  {
    name: "openinference",
    marks: ["openinference.span.kind"],
    after: openInference,
    strips: [
      ...["openinference.span.kind", "input.value", "input.mime_type", "output.value", "output.mime_type"],
      ...["llm.token_count.total", "llm.invocation_parameters", "metadata"],
    ],
  },
];

const isStripped = (key: string, strips: readonly string[]): boolean =>
  strips.some((it) => (it.endsWith(".") ? key.startsWith(it) : key === it));

/** Gives the attributes of a span their `$ai_…` names, as the service's pipeline does. */
export function applyConventions(draft: AiDraft): void {
  const { properties } = draft;
  const library = libraries.find(({ marks }) => marks.some((it) => Object.hasOwn(properties, it)));
  library?.before?.(draft);
  commonRules(draft);
  if (!library) return;
  library.after(draft);
  properties.$ai_lib = `opentelemetry/${library.name}`;
  for (const key of Object.keys(properties)) if (isStripped(key, library.strips)) delete properties[key];
}
