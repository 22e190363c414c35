import { isoOf, type TimeSource } from "../../kernel/base/clock.ts";
import { type ExceptionFrame, readException } from "../../state/journal/exception.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { FrameSource } from "./shapes.ts";
import { readNamed, type SourceFile } from "./source-files.ts";

export interface SourcePorts {
  readonly clock: TimeSource;
  /** The sim's working directory; null if the sim is open to others than this machine: then nothing is read. */
  readonly sourceFolder: string | null;
}

const around = 5;
const longestLine = 500;

const nothing = (why: string): FrameSource => ({
  ...{ why, path: null, line: null, column: null, map: null, lines: [] },
  ...{ modified_at: null, changed: null, note: null },
});

function linesAround(text: string, line: number): FrameSource["lines"] {
  const from = Math.max(1, line - around);
  return text
    .replace(/\r?\n$/, "")
    .split(/\r\n|\r|\n/)
    .slice(from - 1, line + around)
    .map((it, i) => ({ n: from + i, text: it.slice(0, longestLine) }));
}

/** Clocks closer than this are the same, ms. */
const sameClock = 5_000;

function changeOf(files: readonly SourceFile[], event: StoredEvent, clock: TimeSource) {
  const modified = Math.max(...files.map((it) => it.modified));
  const isReal = Math.abs(clock.now() - Date.now()) < sameClock;
  return {
    modified_at: isoOf(Math.round(modified)),
    changed: isReal ? modified > Date.parse(event.received_at) : null,
  };
}

/** Browsers run these after a development server has changed them. */
const transformed = /^https?:.*\.(tsx?|jsx|mts|vue|svelte|astro)([?#]|$)/i;

async function linesOf(
  frame: ExceptionFrame,
  event: StoredEvent,
  { clock, folder }: { clock: TimeSource; folder: string },
): Promise<FrameSource> {
  const file = await readNamed(folder, frame.file);
  if (!("text" in file)) return nothing(file.why);
  const line = frame.line ?? 0;
  const isScript = /\.[cm]?js$/i.test(file.path);
  const { originalOf } = await import("./source-map.ts");
  const position = { line, column: Math.max(0, (frame.column ?? 1) - 1) };
  const original = isScript ? await originalOf(folder, file, position) : "none";
  if (typeof original === "object" && "text" in original)
    return {
      ...nothing(""),
      why: null,
      path: original.name,
      line: original.line,
      column: original.column + 1,
      map: original.map,
      lines: linesAround(original.text, original.line),
      ...changeOf(original.disk ? [file, original.disk] : [file], event, clock),
    };
  const lines = linesAround(file.text, line);
  if (!lines.some((it) => it.n === line)) return nothing(`${file.path} has fewer lines than ${line}`);
  return {
    ...{ why: null, path: file.path, line, column: frame.column, map: null, lines },
    ...changeOf([file], event, clock),
    note:
      original !== "none"
        ? original.why
        : transformed.test(frame.file)
          ? "the browser ran this file as its server changed it, so lines may differ"
          : null,
  };
}

/** The lines around a frame's position, from the disk of this machine. */
export async function frameSource(
  { clock, sourceFolder: folder }: SourcePorts,
  event: StoredEvent,
  at: { readonly cause: number; readonly frame: number },
): Promise<FrameSource> {
  if (folder === null) return nothing("a sim that others can reach reads no sources");
  const cause = readException(event.properties).causes.find((it) => it.place === at.cause);
  const frame = cause?.frames.find((it) => it.place === at.frame);
  if (!frame) return nothing("the event has no such frame");
  if (frame.line === null || frame.line === 0) return nothing("the frame has no line");
  return await linesOf(frame, event, { clock, folder });
}
