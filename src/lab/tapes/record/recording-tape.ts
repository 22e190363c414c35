import { existsSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { counted } from "../../../kernel/base/text.ts";
import type { Exchange } from "../format/exchange.ts";
import { isUnborn, readHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { type Replacement, replaceTape } from "../format/replace.ts";
import { fileTrouble } from "../format/tape-error.ts";
import { openTapeWriter, type TapeWriter } from "../format/write.ts";
import { type RecordingRequest, TapeOrderError } from "../ports.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Redaction } from "./observed.ts";

export interface Taping {
  readonly file: string;
  taped(): number;
  redacted(): number;
  trouble(): string | null;
  arrive(): number;
  /** Writes an exchange that is redacted already; after the end of the recording it does nothing. */
  append(clean: Exchange): void;
  /** @param failed Requests that the upstream did not answer: with any, a tape is not replaced */
  close(failed: number): Promise<void>;
}

const isBelow = (folder: string, file: string): boolean => {
  const way = relative(folder, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && way !== file;
};

/** The file of a tape. @param folders In which it must lie; the first is where relative paths start */
function fileOf(given: string, folders: readonly string[], isTrusted: boolean): string {
  const file = tapePlace(given, folders[0] ?? ".");
  if (!file.endsWith(".ndjson"))
    throw new TapeOrderError("tape", `${given} does not end in .tape.ndjson`, "give a name such as checkout");
  if (isTrusted || folders.some((folder) => isBelow(folder, file))) return file;
  throw new TapeOrderError(
    "tape",
    `${given} is outside of the folders in which tapes may be recorded`,
    "give a name, or a path below the working folder; `phx-sim record --tape` takes any",
  );
}

interface TapeParts {
  readonly folders: readonly string[];
  readonly redaction: Redaction;
  notice(text: string): void;
}

/** Opens the tape that is ordered, if one is. @throws TapeOrderError */
export async function openTape(
  order: RecordingRequest,
  upstreams: Upstreams,
  parts: TapeParts,
  isTrusted: boolean,
): Promise<Taping | undefined> {
  if (order.tape === undefined) return undefined;
  const { folders, notice } = parts;
  const file = fileOf(order.tape, folders, isTrusted);
  let isClosed = false;
  let unreplaced: string | undefined;
  const { writer, replacement } = await openedFor(file, order, upstreams, parts);

  /** The tape stays as it is unless the new recording is whole. */
  function replace(failed: number): void {
    const { exchanges } = writer.summary;
    if (exchanges > 0 && failed === 0 && writer.trouble === undefined) {
      replacement?.keep();
      return;
    }
    replacement?.drop();
    if (failed > 0) unreplaced = `${counted(failed, "request")} got no response; ${file} is as it was`;
    else notice(`${file} is as it was: nothing new was recorded`);
  }

  return {
    file,
    taped: () => writer.summary.exchanges,
    redacted: () => writer.summary.redactions,
    trouble: () => writer.trouble?.detail ?? unreplaced ?? null,
    arrive: () => writer.arrive(),
    append(clean) {
      if (!isClosed) writer.appendDecoded(withoutRecording(clean));
    },
    async close(failed) {
      isClosed = true;
      await writer.close();
      if (!replacement) return;
      try {
        replace(failed);
      } catch (error) {
        unreplaced = fileTrouble(file, "replaced", error).message;
      }
    },
  };
}

/** Recordings of screens are large, and no replay needs them. */
function withoutRecording(exchange: Exchange): Exchange {
  const { req } = exchange;
  if (exchange.route !== "recordings" || req.body === undefined) return exchange;
  const { bytes } = req.wire;
  return { ...exchange, req: { ...req, body: { omitted: "excluded", bytes }, wire: { bytes, encodings: [] } } };
}

/** Opens the tape itself, or the draft that is to replace it. */
async function openedFor(
  file: string,
  order: RecordingRequest,
  upstreams: Upstreams,
  parts: TapeParts,
): Promise<{ writer: TapeWriter; replacement?: Replacement }> {
  if (!order.replacesTape || !existsSync(file)) return { writer: opened(file, order, upstreams, parts) };
  const { replacement, noise } = await replacing(file);
  try {
    return { writer: opened(replacement.draft, order, upstreams, parts, noise), replacement };
  } catch (error) {
    replacement.drop();
    throw error;
  }
}

/** The noise that the old tape declares applies to the new one, too. */
async function replacing(file: string): Promise<{ replacement: Replacement; noise: readonly string[] }> {
  try {
    const noise = isUnborn(file) ? [] : (await readHeader(file)).noise;
    return { replacement: replaceTape(file), noise };
  } catch (error) {
    const { message, hint } = fileTrouble(file, "replaced", error);
    throw new TapeOrderError("tape", message, hint, error);
  }
}

function opened(
  file: string,
  { include, exclude }: RecordingRequest,
  upstreams: Upstreams,
  { notice, redaction }: TapeParts,
  noise: readonly string[] = [],
): TapeWriter {
  try {
    makeFolder(dirname(file));
    return openTapeWriter(file, {
      redactor: redaction.forCleaned,
      header: { upstream: upstreams.name, noise: [...new Set([...noise, ...redaction.ignore])] },
      ...(include && { include }),
      ...(exclude && { exclude }),
      onTrouble: ({ detail, hint }) => notice(`${detail}; ${hint}`),
      onNotice: notice,
    });
  } catch (error) {
    const { message, hint } = fileTrouble(file, "written", error);
    throw new TapeOrderError("tape", message, hint, error);
  }
}
