import { existsSync } from "node:fs";
import { RecordingError } from "../control/recording-port.ts";
import { durationText, readDuration } from "../kernel/time-text.ts";
import { isUnborn, readHeader } from "../tape/header.ts";
import { tapePlace } from "../tape/place.ts";
import { readTape } from "../tape/read.ts";
import { TapeError } from "../tape/tape-error.ts";
import type { Mode, TapeHeader } from "../tape/types.ts";
import { offlineBy, startErrorOf } from "./recording-start.ts";
import { type SimOptions, StartError } from "./types.ts";

/** What `once` and `new` come to for this tape. @throws StartError */
export async function modeFor(mode: "once" | "new", tape: string, options: SimOptions): Promise<Mode> {
  const ageLimit = ageOf(options.maxAge);
  const file = tapePlace(tape, process.cwd());
  const found = await contentOf(file);
  if (found === undefined) {
    const closed = await closedBy(options);
    if (closed === undefined) return "record";
    throw new StartError(
      "offline",
      `there is no tape ${file} to replay, and it cannot be recorded: ${closed.message}`,
      `record it elsewhere, or ${closed.hint}`,
    );
  }
  const age = Date.now() - Date.parse(found.created);
  if (ageLimit !== undefined && age > ageLimit) {
    const closed = await closedBy(options);
    if (closed === undefined) return "all";
    options.onNotice?.(`${file} is ${durationText(age)} old and is replayed all the same: ${closed.message}`);
  }
  if (mode === "once") return "replay";
  const closed = await closedBy(options);
  if (closed === undefined) return "new";
  options.onNotice?.(`what ${file} has no answer for is an error, not recorded: ${closed.message}`);
  return "replay";
}

/** @throws StartError option */
function ageOf(maxAge: string | undefined): number | undefined {
  if (maxAge === undefined) return undefined;
  const ms = readDuration(maxAge);
  if (ms !== undefined && ms > 0) return ms;
  throw new StartError(
    "option",
    `maxAge cannot be ${JSON.stringify(maxAge)}`,
    "give an age such as 7d or 12h",
  );
}

/** Why the upstream must not be reached; undefined: it may, or there is none. @throws StartError */
async function closedBy(options: SimOptions): Promise<RecordingError | undefined> {
  if (options.upstream === undefined) return undefined;
  const { upstreamsOf } = await import("./recording.ts");
  try {
    upstreamsOf(options.upstream, offlineBy(options));
    return undefined;
  } catch (error) {
    if (error instanceof RecordingError && error.code === "offline") return error;
    throw startErrorOf(error);
  }
}

/** A tape's header; undefined: there is no tape, or no exchange on it, as a recording that saw nothing leaves it. */
async function contentOf(file: string): Promise<TapeHeader | undefined> {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  try {
    const header = await readHeader(file);
    for await (const _ of readTape(file)) return header;
    return undefined;
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new StartError("tape", error.message, error.hint, error);
  }
}
