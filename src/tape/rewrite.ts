import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { finished, pipeline } from "node:stream/promises";
import { readHeader } from "./header.ts";
import { fileLines } from "./lines.ts";
import { lockTape } from "./lock.ts";
import { type ReadOptions, readPlaced } from "./read.ts";
import { isSideName } from "./side-files.ts";
import { fileTrouble, systemCode } from "./tape-error.ts";
import type { Exchange, TapeBody, TapeHeader } from "./types.ts";
import { lineOf } from "./volume-writer.ts";
import { sideFolder, volumeFiles } from "./volumes.ts";

/** A new file that takes an old one's place when it is whole; until then the old one stays as it is. */
interface Draft {
  readonly file: string;
  readonly stream: WriteStream;
}

function draftOf(file: string): Draft {
  const stream = createWriteStream(`${file}.${process.pid}.tmp`, { mode: 0o600, flush: true });
  // Whoever writes or finishes is told; without a listener it would end the process.
  stream.on("error", () => {});
  return { file, stream };
}

const pathOf = ({ stream }: Draft): string => String(stream.path);

/** Waits where the disk is slower than we are; fails when it fails. */
const write = ({ stream }: Draft, text: string): Promise<void> =>
  new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));

function finish({ stream }: Draft): Promise<void> {
  stream.end();
  return finished(stream);
}

async function discard(drafts: Iterable<Draft>): Promise<void> {
  for (const draft of drafts) {
    draft.stream.destroy();
    await rm(pathOf(draft), { force: true });
  }
}

/** Runs while no other writer has the tape. Failures of the file system are told as such. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  let unlock: () => void = () => {};
  try {
    unlock = lockTape(file);
    return await work();
  } catch (error) {
    throw fileTrouble(file, "rewritten", error);
  } finally {
    unlock();
  }
}

/** The files of a tape with their headers. */
async function volumesOf(file: string): Promise<[string, TapeHeader][]> {
  const first = await readHeader(file);
  const volumes: [string, TapeHeader][] = [];
  for (const volume of volumeFiles(file)) {
    const header = volume === file ? first : await readHeader(volume);
    if (header.id !== first.id) break;
    volumes.push([volume, header]);
  }
  return volumes;
}

export interface Pruned {
  kept: number;
  removed: number;
  /** Side files that nothing refers to any more. */
  sideFiles: number;
  /** Bytes of the tape's files, without side files. */
  before: number;
  after: number;
}

const sideOf = (body: TapeBody | undefined): string[] => (body && "file" in body ? [body.file] : []);

const isKnown = (error: unknown): boolean => systemCode(error) === "ENOENT";

/** Removes what is in the folder of side files and not in use. */
async function removeUnused(folder: string, used: ReadonlySet<string>): Promise<number> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isKnown(error)) return [];
    throw error;
  });
  const unused = names.filter((name) => isSideName(name) && !used.has(name));
  for (const name of unused) await rm(join(folder, name), { force: true });
  return unused.length;
}

const sizeOf = async (files: readonly string[]): Promise<number> =>
  (await Promise.all(files.map(async (file) => (await stat(file)).size))).reduce((a, b) => a + b, 0);

/** Writes drafts of all volumes with the exchanges that stay. */
async function fillDrafts(
  drafts: ReadonlyMap<string, Draft>,
  keep: (exchange: Exchange) => boolean,
  options: ReadOptions,
) {
  const [first = ""] = drafts.keys();
  const used = new Set<string>();
  let [kept, removed] = [0, 0];
  for await (const { exchange, place } of readPlaced(first, options)) {
    const draft = drafts.get(place.file);
    if (!draft || !keep(exchange)) {
      removed++;
      continue;
    }
    kept++;
    for (const name of [...sideOf(exchange.req.body), ...sideOf(exchange.res?.body)]) used.add(name);
    await write(draft, `${lineOf(exchange)}\n`);
  }
  return { used, kept, removed };
}

/**
 * Takes exchanges out of a tape, lines that cannot be read with them, and removes side files that are no longer
 * needed. The tape changes when all is written; numbers of exchanges stay.
 * @throws TapeError when it is no tape, is being recorded, or cannot be written
 */
export function pruneTape(
  file: string,
  keep: (exchange: Exchange) => boolean,
  options: Pick<ReadOptions, "onProblem"> = {},
): Promise<Pruned> {
  return locked(file, async () => {
    const volumes = await volumesOf(file);
    const files = volumes.map(([volume]) => volume);
    const before = await sizeOf(files);
    const drafts = new Map(files.map((volume) => [volume, draftOf(volume)]));
    try {
      for (const [volume, header] of volumes) {
        const draft = drafts.get(volume);
        if (draft) await write(draft, `${lineOf(header)}\n`);
      }
      const { used, kept, removed } = await fillDrafts(drafts, keep, options);
      for (const draft of drafts.values()) await finish(draft);
      for (const draft of drafts.values()) await rename(pathOf(draft), draft.file);
      const sideFiles = await removeUnused(sideFolder(file), used);
      return { kept, removed, sideFiles, before, after: await sizeOf(files) };
    } catch (error) {
      await discard(drafts.values());
      throw error;
    }
  });
}

/** Bytes of the first line, its line break included. */
async function headerBytes(file: string): Promise<number> {
  for await (const { length } of fileLines(file, 0)) return length + 1;
  return 0;
}

/**
 * Changes a tape's header; all else is copied as it is. Of a tape of several volumes the first one's counts.
 * @throws TapeError when it is no tape, is being recorded, or cannot be written
 */
export function rewriteHeader(file: string, change: (header: TapeHeader) => TapeHeader): Promise<TapeHeader> {
  return locked(file, async () => {
    const header = change(await readHeader(file));
    const start = await headerBytes(file);
    const draft = draftOf(file);
    try {
      await write(draft, `${lineOf(header)}\n`);
      await pipeline(createReadStream(file, { start }), draft.stream);
      await rename(pathOf(draft), file);
      return header;
    } catch (error) {
      await discard([draft]);
      throw error;
    }
  });
}
