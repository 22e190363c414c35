import type { Encoder } from "./encoder.ts";
import type { Keys } from "./keys.ts";
import type { ExportFile, RunFiles } from "./ports.ts";

/** A file that was written. */
export interface WrittenFile {
  key: string;
  records: number;
  bytes: number;
}

/** Writes records to files, one after the other. */
export interface SplitWriter<R> {
  add(record: R): Promise<void>;
  /** Ends the last file. Returns all of them: none when there was no record. */
  end(): Promise<WrittenFile[]>;
}

interface Options<R> {
  files: RunFiles;
  keys: Keys;
  encoder: () => Encoder<R>;
  /** Bytes after which a further file is begun. */
  maxBytes: number | null;
}

/** A file is a bit larger than `maxBytes`, as upstream: its size is known when a part of it is written. */
export function createSplitWriter<R>({ files, keys, encoder, maxBytes }: Options<R>): SplitWriter<R> {
  const written: WrittenFile[] = [];
  let open: { to: ExportFile; from: Encoder<R>; about: WrittenFile } | undefined;

  async function begin() {
    const about = { key: keys.file(written.length), records: 0, bytes: 0 };
    open = { to: await files.create(about.key), from: encoder(), about };
    return open;
  }

  async function put({ to, about }: NonNullable<typeof open>, bytes: Uint8Array): Promise<void> {
    about.bytes += bytes.length;
    await to.write(bytes);
  }

  async function endFile(it: NonNullable<typeof open>): Promise<void> {
    await put(it, await it.from.take());
    await put(it, await it.from.end());
    await it.to.close();
    written.push(it.about);
    open = undefined;
  }

  return {
    async add(record) {
      const it = open ?? (await begin());
      it.from.add(record);
      it.about.records++;
      if (!it.from.isFull) return;
      await put(it, await it.from.take());
      if (maxBytes !== null && it.about.bytes > maxBytes) await endFile(it);
    },
    async end() {
      if (open) await endFile(open);
      return written;
    },
  };
}
