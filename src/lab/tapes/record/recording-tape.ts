import { existsSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { counted } from "../../../kernel/base/text.ts";
import type { Exchange } from "../format/exchange.ts";
import { isUnborn, readHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { Replacement } from "../format/replace.ts";
import { fileTrouble } from "../format/tape-error.ts";
import { TapeWriter } from "../format/write.ts";
import { type RecordingRequest, TapeOrderError } from "../ports.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Redaction } from "./observed.ts";

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
  { folders, redaction, notice }: TapeParts,
  isTrusted: boolean,
) {
  if (order.tape === undefined) return undefined;
  const file = fileOf(order.tape, folders, isTrusted);
  let replacement: Replacement | undefined;
  let writer: TapeWriter;
  let unreplaced: string | undefined;
  let isClosed = false;
  let doing = "replaced";
  try {
    let noise = redaction.ignore;
    if (order.replacesTape && existsSync(file)) {
      // the noise that the old tape declares applies to the new one, too
      if (!isUnborn(file)) noise = [...new Set([...(await readHeader(file)).noise, ...noise])];
      replacement = new Replacement(file);
    }
    doing = "written";
    makeFolder(dirname(file));
    writer = new TapeWriter(replacement?.draft ?? file, {
      redactor: redaction.forCleaned,
      header: { upstream: upstreams.name, noise },
      include: order.include,
      exclude: order.exclude,
      onTrouble: ({ detail, hint }) => notice(`${detail}; ${hint}`),
      onNotice: notice,
    });
  } catch (error) {
    replacement?.drop();
    const { message, hint } = fileTrouble(file, doing, error);
    throw new TapeOrderError("tape", message, hint, error);
  }

  /** The tape stays as it is unless the new recording is whole. */
  function replace(failed: number): void {
    if (writer.summary.exchanges > 0 && failed === 0 && writer.trouble === undefined) {
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
    /** Writes an exchange that is redacted already; after the end of the recording it does nothing. */
    append(clean: Exchange): void {
      if (!isClosed) writer.appendDecoded(clean);
    },
    /** @param failed Requests that the upstream did not answer: with any, a tape is not replaced */
    async close(failed: number): Promise<void> {
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

export type Taping = NonNullable<Awaited<ReturnType<typeof openTape>>>;
