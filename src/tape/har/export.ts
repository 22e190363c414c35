import { version } from "../../kernel/version.ts";
import { readHeader } from "../header.ts";
import { type Placed, type ReadOptions, readPlaced } from "../read.ts";
import { createRedactor } from "../redact/redactor.ts";
import { scanExchange } from "../redact/scan.ts";
import type { Exchange, TapeHeader } from "../types.ts";
import { lineOf } from "../volume-writer.ts";
import { HarError } from "./errors.ts";
import { writeEntry } from "./write-entry.ts";

export interface ExportOptions extends Pick<ReadOptions, "onProblem"> {
  /** Also where something still looks like a secret after it was redacted again. */
  unsafe?: boolean;
  /** Bytes of the tape that were read so far, of its current file. */
  onProgress?: (bytes: number) => void;
}

/** Keys that must not get out, whatever else was found: a second look at what is about to be written. */
const knownKeys = /\bph[abd-z]_[A-Za-z0-9]{20,}|\bBearer\s+(?!\{\{)[\w.~+/=-]{16,}/;

/** Where an exchange has what looks like a secret, and what it is; undefined: nowhere. */
function suspicionIn(exchange: Exchange, entry: string): string | undefined {
  const [found] = scanExchange(exchange);
  if (found) return `${found.path} has what looks like a secret (${found.kind}: ${found.detail})`;
  return knownKeys.test(entry) ? "it has what looks like a key" : undefined;
}

const start = (header: TapeHeader): string => {
  const creator = { name: "phx-sim", version };
  const comment = `tape ${header.id}, recorded ${header.created} by ${header.creator}; secrets are placeholders`;
  return `{"log":{"version":"1.2","creator":${lineOf(creator)},"comment":${lineOf(comment)},"pages":[],"entries":[`;
};

const end = "\n]}}\n";

function createExporter(header: TapeHeader, { unsafe = false }: ExportOptions) {
  const redactor = createRedactor({ profile: header.redaction === "pii" ? "pii" : "default" });
  /** @throws HarError when something that looks like a secret is left */
  return ({ exchange, place }: Placed): string => {
    redactor.reserve(JSON.stringify(exchange));
    const safe = redactor.redact(exchange);
    const entry = lineOf(writeEntry(safe));
    const suspicion = unsafe ? undefined : suspicionIn(safe, entry);
    if (suspicion === undefined) return entry;
    throw new HarError(
      `not exported: exchange ${exchange.i} (line ${place.line}): ${suspicion}; remove it with phx-sim tape prune, or export with --unsafe`,
    );
  };
}

/**
 * A tape as HAR 1.2, in chunks of text that must all be written: decoded, redacted once more. Chrome's DevTools open
 * it, and Playwright's `routeFromHAR` answers from it.
 * @throws HarError when something that looks like a secret is left, unless `unsafe`
 * @throws TapeError when the file cannot be read, is no tape, or of a newer format
 */
export async function* exportHar(tape: string, options: ExportOptions = {}): AsyncGenerator<string> {
  const header = await readHeader(tape);
  const textOf = createExporter(header, options);
  const beginning = start(header);
  if (!options.unsafe && knownKeys.test(beginning)) {
    throw new HarError(
      "not exported: the tape's header has what looks like a key; --unsafe exports it all the same",
    );
  }
  let separator = "\n";
  yield beginning;
  for await (const placed of readPlaced(tape, { ...options, bodies: "whole" })) {
    yield `${separator}${textOf(placed)}`;
    separator = ",\n";
    options.onProgress?.(placed.place.offset + placed.place.length);
  }
  yield end;
}
