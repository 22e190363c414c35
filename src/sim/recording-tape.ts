import { dirname, relative, sep } from "node:path";
import { RecordingError, type RecordingOrder } from "../control/recording-port.ts";
import type { Upstreams } from "../door/forward/upstreams.ts";
import { makeFolder } from "../kernel/make-folder.ts";
import { tapePlace } from "../tape/place.ts";
import { fileTrouble } from "../tape/tape-error.ts";
import type { Exchange } from "../tape/types.ts";
import { openTapeWriter, type TapeWriter } from "../tape/write.ts";
import type { Redaction } from "./recording-redaction.ts";

/** The tape of a recording. */
export interface Taping {
  readonly file: string;
  taped(): number;
  redacted(): number;
  trouble(): string | null;
  /** A number for a request that has just arrived. */
  arrive(): number;
  /** Writes an exchange that is redacted already; after the end of the recording it does nothing. */
  append(clean: Exchange): void;
  close(): Promise<void>;
}

const isBelow = (folder: string, file: string): boolean => {
  const way = relative(folder, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && way !== file;
};

/** The file of a tape. @param folders In which it must lie; the first is where relative paths start */
function fileOf(given: string, folders: readonly string[], isTrusted: boolean): string {
  const file = tapePlace(given, folders[0] ?? ".");
  if (!file.endsWith(".ndjson"))
    throw new RecordingError("tape", `${given} does not end in .tape.ndjson`, "give a name such as checkout");
  if (isTrusted || folders.some((folder) => isBelow(folder, file))) return file;
  throw new RecordingError(
    "tape",
    `${given} is outside of the folders in which tapes may be recorded`,
    "give a name, or a path below the working folder; `phx-sim record --tape` takes any",
  );
}

interface TapeParts {
  readonly folders: readonly string[];
  notice(text: string): void;
}

/** Opens the tape that is ordered, if one is. @throws RecordingError */
export async function openTape(
  order: RecordingOrder,
  upstreams: Upstreams,
  redaction: Redaction,
  { folders, notice }: TapeParts,
  isTrusted: boolean,
): Promise<Taping | undefined> {
  if (order.tape === undefined) return undefined;
  const file = fileOf(order.tape, folders, isTrusted);
  let isClosed = false;
  const writer = opened(file, order, { upstreams, redaction, notice });
  return {
    file,
    taped: () => writer.summary.exchanges,
    redacted: () => writer.summary.redactions,
    trouble: () => writer.trouble?.detail ?? null,
    arrive: () => writer.arrive(),
    append(clean) {
      if (!isClosed) writer.appendDecoded(withoutRecording(clean));
    },
    async close() {
      isClosed = true;
      await writer.close();
    },
  };
}

/** Recordings of screens are large, and no replay needs them. */
function withoutRecording(exchange: Exchange): Exchange {
  const { req } = exchange;
  if (exchange.route !== "recordings" || req.body === undefined) return exchange;
  const { bytes } = req.wire;
  return {
    ...exchange,
    req: { ...req, body: { omitted: "excluded", bytes }, wire: { bytes, encodings: [] } },
  };
}

interface WriterParts {
  upstreams: Upstreams;
  redaction: Redaction;
  notice(text: string): void;
}

function opened(
  file: string,
  { include, exclude }: RecordingOrder,
  { upstreams, redaction, notice }: WriterParts,
): TapeWriter {
  try {
    makeFolder(dirname(file));
    return openTapeWriter(file, {
      redactor: redaction.forCleaned,
      header: { upstream: upstreams.name, noise: redaction.ignore },
      ...(include && { include }),
      ...(exclude && { exclude }),
      onTrouble: ({ detail, hint }) => notice(`${detail}; ${hint}`),
      onNotice: notice,
    });
  } catch (error) {
    const { message, hint } = fileTrouble(file, "written", error);
    throw new RecordingError("tape", message, hint, error);
  }
}
