import { fnv1a } from "../../kernel/base/hash.ts";
import { isObject, type Json, type JsonObject, own, textOf } from "../../kernel/base/json.ts";
import { parseBounded } from "../../kernel/base/json-bounds.ts";

export const exceptionEvent = "$exception";

export interface SourceLine {
  readonly n: number | null;
  readonly text: string;
  readonly isHit: boolean;
}

export type FrameOwner = "app" | "library" | "runtime";

export interface ExceptionFrame {
  readonly place: number;
  readonly name: string;
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly owner: FrameOwner;
  /** Name of the package, or of the part of the runtime; empty if unknown. */
  readonly from: string;
  readonly context: readonly SourceLine[];
}

export interface ExceptionCause {
  readonly place: number;
  readonly type: string;
  readonly message: string;
  readonly handled: boolean | null;
  readonly isSynthetic: boolean;
  readonly mechanism: string;
  readonly frames: readonly ExceptionFrame[];
  readonly missing: readonly string[];
}

/** An `$exception` event in one shape, whichever SDK sent it. */
export interface ReadException {
  readonly level: string;
  /** The newest first: each was caused by the next one. */
  readonly causes: readonly ExceptionCause[];
  readonly missing: readonly string[];
}

const mostCauses = 50;
const mostFrames = 200;
const mostContext = 50;
const longestLine = 2_000;
const longestText = 10_000;

/** The first text among these keys: resolved frames have other names than raw ones. */
function textIn(object: JsonObject, ...keys: readonly string[]): string {
  for (const key of keys) {
    const text = textOf(own(object, key));
    if (text !== "") return text.slice(0, longestText);
  }
  return "";
}

function numberIn(object: JsonObject, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = own(object, key);
    const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  }
  return null;
}

const linesOf = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : []).map((it) => textOf(it).slice(0, longestLine));

function contextOf(frame: JsonObject, line: number | null): SourceLine[] {
  const hit = own(frame, "context_line");
  if (typeof hit !== "string") return [];
  const before = linesOf(own(frame, "pre_context")).slice(-mostContext);
  const after = linesOf(own(frame, "post_context")).slice(0, mostContext);
  return [...before, hit.slice(0, longestLine), ...after].map((text, i) => ({
    n: line === null ? null : line + i - before.length,
    text,
    isHit: i === before.length,
  }));
}

/** Package of a path; posthog-js calls every frame the app's, so the path decides. */
const packagePaths = [
  /[\\/]node_modules[\\/](?:\.vite[\\/]deps[\\/]|\.pnpm[\\/][^\\/]+[\\/]node_modules[\\/])?((?:@[^\\/]+[\\/])?[^\\/?]+)(?!.*[\\/]node_modules[\\/])/,
  /[\\/](?:site|dist)-packages[\\/]([^\\/]+)/,
] as const;

const runtimePaths = [
  /^(node:[\w-]+)/,
  /^(native|<anonymous>|\[native code\])$/,
  /[\\/]lib[\\/](python\d[\d.]*)[\\/](?!(?:site|dist)-packages)/,
  /^((?:chrome|moz|safari(?:-web)?)-extension):/,
] as const;

const found = (patterns: readonly RegExp[], text: string): string | undefined => {
  for (const pattern of patterns) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
};

function ownerOf(frame: JsonObject, file: string): Pick<ExceptionFrame, "owner" | "from"> {
  const path = file.slice(0, 1_000);
  const runtime = found(runtimePaths, path);
  if (runtime !== undefined) return { owner: "runtime", from: runtime };
  const library = found(packagePaths, path);
  if (library !== undefined) return { owner: "library", from: library.replace("\\", "/") };
  if (own(frame, "in_app") !== false) return { owner: "app", from: "" };
  return { owner: "library", from: textIn(frame, "module").split(/[.:]/, 1)[0] ?? "" };
}

function frameOf(frame: JsonObject, place: number): ExceptionFrame {
  const line = numberIn(frame, "lineno", "line");
  // Python: the absolute path says whose code it is
  const path = textIn(frame, "abs_path", "filename", "source");
  return {
    place,
    // SDKs write `?` for a function without a name
    name: textIn(frame, "function", "resolved_name", "mangled_name").replace(/^\?$|(?<=\.)\?$/, "<anonymous>"),
    file: textIn(frame, "filename", "source", "abs_path", "module"),
    line,
    column: numberIn(frame, "colno", "column"),
    ...ownerOf(frame, path),
    context: contextOf(frame, line),
  };
}

interface FramesRead {
  readonly frames: ExceptionFrame[];
  readonly missing: string[];
}

/** @param isNewestLast SDKs send the first call first; texts of stacks begin with the last one */
function framesIn(list: readonly Json[], isNewestLast: boolean): FramesRead {
  const skipped = Math.max(0, list.length - mostFrames);
  const places = [...list.keys()].slice(isNewestLast ? skipped : 0).slice(0, mostFrames);
  const read = places.flatMap((place) => {
    const frame = list[place];
    return isObject(frame) ? [frameOf(frame, place)] : [];
  });
  const broken = places.length - read.length;
  return {
    frames: isNewestLast ? read.reverse() : read,
    missing: [
      ...(skipped > 0 ? [`${skipped} further frames are not shown`] : []),
      ...(broken > 0 ? [`${broken} of the frames cannot be read`] : []),
    ],
  };
}

const stackLines = [
  /^\s*at (?:async )?(?:(?<name>.{1,200}?) \()?(?<file>[^()]{1,1000}?):(?<line>\d{1,9}):(?<column>\d{1,9})\)?\s*$/,
  /^(?<name>[^@\s]{0,200})@(?<file>.{1,1000}?):(?<line>\d{1,9}):(?<column>\d{1,9})$/,
  /^\s*File "(?<file>[^"]{1,1000})", line (?<line>\d{1,9}), in (?<name>.{1,200})$/,
] as const;

function framesInText(text: string): FramesRead {
  const calls = text
    .slice(0, 100_000)
    .split("\n")
    .flatMap((line): JsonObject[] => {
      if (line.length > longestLine) return [];
      for (const pattern of stackLines) {
        const groups = pattern.exec(line)?.groups;
        if (groups)
          return [
            {
              function: groups.name ?? "",
              filename: groups.file ?? "",
              lineno: groups.line ?? "",
              colno: groups.column ?? "",
            },
          ];
      }
      return [];
    });
  return framesIn(calls, /^Traceback /m.test(text));
}

function jsonIn(text: string): Json | undefined {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}

const noFrames: FramesRead = { frames: [], missing: [] };

function stackOf(stack: Json | undefined): FramesRead {
  if (stack === undefined || stack === null) return noFrames;
  if (Array.isArray(stack)) return framesIn(stack, true);
  if (typeof stack === "string") {
    const json = /^\s*\[/.test(stack) ? jsonIn(stack) : undefined;
    const read = Array.isArray(json) ? framesIn(json, true) : framesInText(stack);
    return read.frames.length > 0 || stack === "" ? read : { frames: [], missing: ["the stack cannot be read"] };
  }
  const frames = isObject(stack) ? own(stack, "frames") : undefined;
  if (Array.isArray(frames)) return framesIn(frames, true);
  return frames === undefined || frames === null ? noFrames : { frames: [], missing: ["the frames are not a list"] };
}

const flagIn = (object: JsonObject, key: string): boolean | null => {
  const value = own(object, key);
  return typeof value === "boolean" ? value : null;
};

function causeOf(cause: JsonObject, place: number): ExceptionCause {
  const mechanism = own(cause, "mechanism");
  const facts = isObject(mechanism) ? mechanism : {};
  const { frames, missing } = stackOf(own(cause, "stacktrace"));
  const parent = own(facts, "parent_id");
  const isLoop = parent !== undefined && parent === own(facts, "exception_id");
  return {
    place,
    type: textIn(cause, "type"),
    message: textIn(cause, "value"),
    handled: flagIn(facts, "handled"),
    isSynthetic: flagIn(facts, "synthetic") === true,
    mechanism: textIn(facts, "type"),
    frames,
    missing: [...missing, ...(isLoop ? ["it names itself as its cause: the chain was circular"] : [])],
  };
}

/** `$exception_type`, `$exception_message` and `$exception_stack_trace_raw` of older SDKs. */
function olderCause(properties: JsonObject): ExceptionCause[] {
  const type = textIn(properties, "$exception_type");
  const message = textIn(properties, "$exception_message");
  const { frames, missing } = stackOf(own(properties, "$exception_stack_trace_raw"));
  if (type === "" && message === "" && frames.length === 0 && missing.length === 0) return [];
  const handled = flagIn(properties, "$exception_handled");
  const isSynthetic = flagIn(properties, "$exception_synthetic") === true;
  return [{ place: 0, type, message, handled, isSynthetic, mechanism: "", frames, missing }];
}

function listIn(properties: JsonObject): Json | undefined {
  const sent = own(properties, "$exception_list");
  return typeof sent === "string" ? jsonIn(sent) : sent;
}

export function exceptionHead(properties: JsonObject): Pick<ExceptionCause, "type" | "message"> {
  const list = listIn(properties);
  const first = Array.isArray(list) ? list.find(isObject) : undefined;
  return {
    type: (first && textIn(first, "type")) || textIn(properties, "$exception_type"),
    message: (first && textIn(first, "value")) || textIn(properties, "$exception_message"),
  };
}

export function readException(properties: JsonObject): ReadException {
  const level = textIn(properties, "$exception_level").slice(0, 100);
  const list = listIn(properties);
  if (!Array.isArray(list) || list.length === 0) {
    const missing = own(properties, "$exception_list") === undefined ? [] : ["$exception_list has no exceptions"];
    return { level, causes: olderCause(properties), missing };
  }
  const read = list.slice(0, mostCauses).flatMap((it, i) => (isObject(it) ? [causeOf(it, i)] : []));
  const causes = read.length > 0 ? read : olderCause(properties);
  const broken = Math.min(list.length, mostCauses) - read.length;
  const further = list.length - mostCauses;
  return {
    level,
    causes,
    missing: [
      ...(broken > 0 ? [`${broken} of the causes cannot be read`] : []),
      ...(further > 0 ? [`${further} further causes are not shown`] : []),
    ],
  };
}

/** Parts of a message that differ from one time to the next: ids, addresses, numbers. */
const varying = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\b0x[\da-f]+\b|\b(?=[a-z]*\d)[\da-z]*\b|\d+/gi;

const fileName = (file: string): string =>
  (file.split(/[?#]/, 1)[0] ?? "").replace(/^.*[\\/]/, "").replace(/[-.][\w-]{8,}(?=\.\w+$)/, "");

const framesCompared = 20;

/** What equal exceptions have in common. Lines and columns are not part of it: an edit above would part them. */
function likeness({ causes }: ReadException): string {
  return causes
    .map(({ type, message, frames }) => {
      const inApp = frames.filter(({ owner }) => owner === "app");
      const compared = (inApp.length > 0 ? inApp : frames.slice(0, 1)).slice(0, framesCompared);
      const calls = compared.map(({ name, file }) => `${name} ${fileName(file)}`);
      return [type, message.slice(0, 500).replace(varying, "#"), ...calls].join("\n");
    })
    .join("\n\n");
}

const hex = (text: string, seed?: number): string => fnv1a(text, seed).toString(16).padStart(8, "0");

/** The fingerprint that was sent, by `$exception_fingerprint`; undefined if none was. */
export const sentFingerprint = (properties: JsonObject): string | undefined =>
  textIn(properties, "$exception_fingerprint") || undefined;

export const groupOf = (event: string, properties: () => Readonly<JsonObject>): string | undefined =>
  event === exceptionEvent ? exceptionGroup(properties()) : undefined;

/** Id of the group of equal exceptions: by the sent fingerprint, else by types, messages and the app's frames. */
export function exceptionGroup(properties: JsonObject): string {
  const sent = sentFingerprint(properties);
  const text = sent === undefined ? `made ${likeness(readException(properties))}` : `sent ${sent}`;
  return hex(text) + hex(text, 0x2545f491);
}
