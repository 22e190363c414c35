import { firstOf, isObject, isTooDeep, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { prettyJson } from "../../../copy/quote.ts";
import { sizeText } from "../../../parts/text.ts";

/** A part of a message. Files are described, never loaded. */
export type Part =
  | { readonly is: "text" | "thinking" | "refusal"; readonly text: string }
  | { readonly is: "call"; readonly name: string; readonly id?: string | undefined; readonly input: Json | undefined }
  /** `name`: of the tool, else the id of its call. */
  | { readonly is: "result"; readonly name: string; readonly output: Json | undefined }
  | { readonly is: "file"; readonly what: string; readonly about: string }
  | { readonly is: "other"; readonly value: Json };

export interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

const textIn = (object: JsonObject, ...keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const value = own(object, key);
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
};

const objectIn = (object: JsonObject, ...keys: readonly string[]): JsonObject | undefined => {
  const value = firstOf(object, ...keys);
  return isObject(value) ? value : undefined;
};

const text = (value: string | undefined, is: "text" | "thinking" | "refusal" = "text"): Part[] =>
  value === undefined || value === "" ? [] : [{ is, text: value }];

const callId = (part: JsonObject): string | undefined =>
  textIn(part, "tool_use_id", "tool_call_id", "call_id", "toolCallId", "id");

/** A call of a tool: OpenAI nests name and arguments in `function`, LangChain and Vercel have other names. */
function callPart(call: JsonObject): Part {
  const inner = objectIn(call, "function", "functionCall", "function_call") ?? call;
  return {
    is: "call",
    id: callId(call),
    name: textIn(inner, "name", "toolName", "tool_name") ?? textIn(call, "name") ?? "",
    input: firstOf(inner, "arguments", "args", "input"),
  };
}

/** Content that is one text, as text: Anthropic's results are lists of text parts. */
function simple(value: Json | undefined): Json | undefined {
  if (!Array.isArray(value)) return value;
  const texts = value.map((it) => (isObject(it) ? own(it, "text") : it));
  return texts.length > 0 && texts.every((it) => typeof it === "string") ? texts.join("\n") : value;
}

const resultPart = (result: JsonObject): Part => ({
  is: "result",
  name: textIn(result, "name", "toolName", "tool_name") ?? callId(result) ?? "",
  output: simple(firstOf(result, "content", "output", "result", "response")),
});

const base64Size = (data: string): string => sizeText(Math.floor((data.length * 3) / 4));

/** What is known of a file: its type and size, or its address as text. */
function filePart(what: string, part: JsonObject): Part {
  const source =
    objectIn(
      part,
      "source",
      "image_url",
      "inlineData",
      "inline_data",
      "fileData",
      "file_data",
      "file",
      "input_audio",
      "image",
    ) ?? part;
  const data =
    textIn(source, "data", "url", "fileUri", "file_uri", "file_data", "uri", "file_id", "content") ??
    textIn(part, "image_url", "image", "file_url", "file_id");
  const [, typed, inline] = /^data:([^;,]{0,100})[^,]{0,100},([\s\S]*)$/.exec(data ?? "") ?? [];
  const type = textIn(source, "media_type", "mimeType", "mime_type", "mediaType", "format") ?? typed;
  const name = textIn(source, "filename", "name", "title");
  const isAddress = data !== undefined && inline === undefined && /^[a-z][a-z\d+.-]{1,10}:\/\//i.test(data);
  const place = data === undefined ? undefined : isAddress ? data : base64Size(inline ?? data);
  return { is: "file", what, about: [name, type, place].filter((it) => it !== undefined).join(" · ") };
}

/** Parts by their `type`. OpenAI (chat and responses), Anthropic, OpenTelemetry, Vercel. */
const byType: Readonly<Record<string, (part: JsonObject) => Part[]>> = {
  text: (it) => text(textIn(it, "text", "content")),
  input_text: (it) => text(textIn(it, "text")),
  output_text: (it) => text(textIn(it, "text")),
  thinking: (it) => text(textIn(it, "thinking", "text", "content"), "thinking"),
  reasoning: (it) => text(textIn(it, "text", "content") ?? summaryOf(it), "thinking"),
  redacted_thinking: () => text("(redacted)", "thinking"),
  refusal: (it) => text(textIn(it, "refusal", "text"), "refusal"),
  tool_use: (it) => [callPart(it)],
  server_tool_use: (it) => [callPart(it)],
  function: (it) => [callPart(it)],
  function_call: (it) => [callPart(it)],
  tool_call: (it) => [callPart(it)],
  "tool-call": (it) => [callPart(it)],
  tool_result: (it) => [resultPart(it)],
  function_call_output: (it) => [resultPart(it)],
  tool_call_response: (it) => [resultPart(it)],
  "tool-result": (it) => [resultPart(it)],
  image: (it) => [filePart("image", it)],
  image_url: (it) => [filePart("image", it)],
  input_image: (it) => [filePart("image", it)],
  audio: (it) => [filePart("audio", it)],
  input_audio: (it) => [filePart("audio", it)],
  video: (it) => [filePart("video", it)],
  document: (it) => [filePart("file", it)],
  file: (it) => [filePart("file", it)],
  input_file: (it) => [filePart("file", it)],
  media: (it) => [filePart("file", it)],
  blob: (it) => [filePart("file", it)],
  uri: (it) => [filePart("file", it)],
};

/** Parts by a key: Gemini has no types. */
const byKey: readonly (readonly [key: string, read: (part: JsonObject) => Part[]])[] = [
  ["functionCall", (it) => [callPart(it)]],
  ["function_call", (it) => [callPart(it)]],
  ["functionResponse", (it) => [resultPart(objectIn(it, "functionResponse") ?? it)]],
  ["function_response", (it) => [resultPart(objectIn(it, "function_response") ?? it)]],
  ["inlineData", (it) => [filePart("file", it)]],
  ["inline_data", (it) => [filePart("file", it)]],
  ["fileData", (it) => [filePart("file", it)]],
  ["file_data", (it) => [filePart("file", it)]],
  ["text", (it) => text(textIn(it, "text"), own(it, "thought") === true ? "thinking" : "text")],
];

function summaryOf(part: JsonObject): string | undefined {
  const summary = own(part, "summary");
  const joined = simple(Array.isArray(summary) ? summary : undefined);
  return typeof joined === "string" ? joined : undefined;
}

function partsOf(part: Json): Part[] {
  if (typeof part === "string") return text(part);
  if (!isObject(part)) return part === null ? [] : [{ is: "other", value: part }];
  const type = own(part, "type");
  const read = typeof type === "string" && Object.hasOwn(byType, type) ? byType[type] : undefined;
  const found = (read ?? byKey.find(([key]) => Object.hasOwn(part, key))?.[1])?.(part) ?? [];
  return found.length > 0 ? found : [{ is: "other", value: part }];
}

/** Parts of a message that are drawn; a part may be anything, so that there may be many. */
const mostParts = 200;

const listOf = (value: Json | undefined): Json[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.slice(0, mostParts) : [value];
};

const roles: Readonly<Record<string, string>> = {
  model: "assistant",
  ai: "assistant",
  human: "user",
  function: "tool",
};
const knownRoles: ReadonlySet<string> = new Set([
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  ...Object.keys(roles),
]);

const shownRole = (role: string): string => (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? role;

/** LangChain names the role `type`. */
function roleOf(message: JsonObject): string | undefined {
  const role = textIn(message, "role");
  if (role !== undefined) return shownRole(role);
  const type = textIn(message, "type");
  return type !== undefined && knownRoles.has(type) && type !== "function" ? shownRole(type) : undefined;
}

function messageParts(message: JsonObject, role: string): Part[] {
  const content = firstOf(message, "content", "parts");
  if (
    role === "tool" &&
    !listOf(content).some((it) => isObject(it) && typeof it.type === "string" && it.type !== "text")
  )
    return [resultPart(message)];
  return [
    ...text(textIn(message, "reasoning_content", "reasoning"), "thinking"),
    ...listOf(content).flatMap(partsOf),
    ...text(textIn(message, "refusal"), "refusal"),
    ...listOf(own(message, "tool_calls")).flatMap((it) => (isObject(it) ? [callPart(it)] : partsOf(it))),
    ...(objectIn(message, "function_call") ? [callPart(message)] : []),
  ];
}

function messageOf(value: Json, otherwise: string): Message {
  if (!isObject(value)) return { role: otherwise, parts: partsOf(value) };
  // an OpenAI choice
  const inner = objectIn(value, "message");
  if (inner && roleOf(value) === undefined) return messageOf(inner, otherwise);
  const role = roleOf(value);
  if (
    role === undefined &&
    own(value, "content") === undefined &&
    own(value, "parts") === undefined &&
    own(value, "tool_calls") === undefined
  ) {
    const parts = partsOf(value);
    return { role: parts[0]?.is === "result" ? "tool" : otherwise, parts };
  }
  return { role: role ?? otherwise, parts: messageParts(value, role ?? otherwise) };
}

/** The list of messages in a value: itself, or in one of these keys. */
function messagesIn(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  const list = isObject(value) ? firstOf(value, "messages", "choices", "contents") : undefined;
  return Array.isArray(list) ? list : [value];
}

/** Messages that are read; a body may have 20 MB. */
export const mostMessages = 2_000;

/**
 * The messages of `$ai_input` or `$ai_output_choices`, the last of them.
 * @param role For those without one
 */
export function messagesOf(value: Json | undefined, role: string): Message[] {
  if (value === undefined || value === null || value === "") return [];
  const json = typeof value === "string" ? parsedJson(value) : value;
  return withToolNames(
    messagesIn(json)
      .slice(-mostMessages)
      .map((it) => messageOf(it, role))
      .filter((it) => it.parts.length > 0),
  );
}

/** Results that know only the id of their call get its name. */
function withToolNames(messages: Message[]): Message[] {
  const calls = messages.flatMap(({ parts }) => parts.flatMap((it) => (it.is === "call" ? [it] : [])));
  const names = new Map(calls.map((it) => [it.id, it.name]));
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((it) => (it.is === "result" ? { ...it, name: names.get(it.name) ?? it.name } : it)),
  }));
}

export const messageCount = (value: Json | undefined): number =>
  value === undefined || value === null ? 0 : messagesIn(typeof value === "string" ? parsedJson(value) : value).length;

/** Text with JSON as its value. */
function parsedJson(value: string): Json {
  if (value.length > 1_000_000 || !/^\s*[[{]/.test(value)) return value;
  try {
    const json: Json = JSON.parse(value);
    return isTooDeep(json) ? value : json;
  } catch {
    return value;
  }
}

/** Arguments, results and states as text: JSON on several lines. */
export function blockText(value: Json | undefined): string {
  if (value === undefined) return "";
  const json = typeof value === "string" ? parsedJson(value) : value;
  return typeof json === "string" ? json : prettyJson(json);
}
