import { RecordingError } from "../control/recording-port.ts";
import { durationText, readDuration } from "../kernel/time-text.ts";
import { tapePlace } from "../tape/place.ts";
import { TapeError } from "../tape/tape-error.ts";
import type { Mode, TapeHeader } from "../tape/types.ts";
import { offlineBy, startErrorOf } from "./recording-start.ts";
import { type SimOptions, StartError } from "./types.ts";

/**
 * The options with the mode that they come to. `once` and `new` record where there is no tape yet, or one that is too
 * old; an upstream alone means `record`. @throws StartError
 */
export async function withMode(options: SimOptions): Promise<SimOptions> {
  const { mode, tape, upstream, onMiss, maxAge } = options;
  if (mode === "once" || mode === "new") {
    if (tape === undefined)
      throw new StartError(
        "tape",
        `the mode ${mode} needs a tape`,
        "name one: --tape NAME, or `tape` in code",
      );
    return { ...options, mode: await modeFor(mode, tape, options) };
  }
  if (maxAge !== undefined)
    throw new StartError(
      "option",
      `maxAge does not go with the mode ${mode ?? "replay"}`,
      "a tape can be recorded again with the modes once and new",
    );
  if (mode === undefined && upstream !== undefined && onMiss === undefined)
    return { ...options, mode: "record" };
  return options;
}

/** What `once` and `new` come to for this tape. @throws StartError */
async function modeFor(mode: "once" | "new", tape: string, options: SimOptions): Promise<Mode> {
  const ageLimit = ageOf(options.maxAge);
  const file = tapePlace(tape, process.cwd());
  const found = await filledTape(file);
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
    options.onNotice?.(`${file} is ${durationText(age)} old and is replayed anyway: ${closed.message}`);
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

/** The header of a tape that has something to replay; undefined: there is none. @throws StartError */
async function filledTape(file: string): Promise<TapeHeader | undefined> {
  // Most sims never read a tape.
  const { filledHeader } = await import("../tape/read.ts");
  try {
    return await filledHeader(file);
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new StartError("tape", error.message, error.hint, error);
  }
}
