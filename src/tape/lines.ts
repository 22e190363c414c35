import { type FileHandle, open } from "node:fs/promises";

const chunkSize = 256 * 1024;
const newline = 0x0a;

/** A line of a file: its bytes, without the line break. */
export interface Line {
  /** From 1. */
  line: number;
  offset: number;
  length: number;
  /** undefined: it is longer than allowed and was passed over. */
  text: string | undefined;
  /** Is it ended by a line break? The last line of a file may not be. */
  isEnded: boolean;
}

/** What is left of a line when its chunk ends. */
interface Rest {
  parts: Buffer[];
  length: number;
  isTooLong: boolean;
}

const emptyRest = (): Rest => ({ parts: [], length: 0, isTooLong: false });

function keep(rest: Rest, bytes: Buffer, most: number): void {
  rest.length += bytes.length;
  if (rest.length > most) rest.isTooLong = true;
  if (rest.isTooLong) rest.parts = [];
  else rest.parts.push(bytes);
}

const textOf = ({ parts, isTooLong }: Rest): string | undefined => {
  if (isTooLong) return undefined;
  const [only] = parts;
  return (parts.length === 1 && only ? only : Buffer.concat(parts)).toString("utf8");
};

async function readChunk(handle: FileHandle, position: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(chunkSize);
  const { bytesRead } = await handle.read(chunk, 0, chunkSize, position);
  return chunk.subarray(0, bytesRead);
}

/** The lines of an open file in turn, a chunk at a time: memory stays bounded whatever the file's size. */
async function* linesIn(handle: FileHandle, most: number): AsyncGenerator<Line> {
  let position = 0;
  let at = { line: 1, offset: 0 };
  let rest = emptyRest();
  for (;;) {
    const chunk = await readChunk(handle, position);
    if (chunk.length === 0) break;
    position += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      keep(rest, chunk.subarray(start, end), most);
      yield { ...at, length: rest.length, text: textOf(rest), isEnded: true };
      at = { line: at.line + 1, offset: at.offset + rest.length + 1 };
      rest = emptyRest();
      start = end + 1;
    }
    if (start < chunk.length) keep(rest, chunk.subarray(start), most);
  }
  if (rest.length > 0) yield { ...at, length: rest.length, text: textOf(rest), isEnded: false };
}

/** The lines of a file in turn; those of more than `most` bytes have no text. @throws the system's error */
export async function* fileLines(file: string, most: number): AsyncGenerator<Line> {
  const handle = await open(file, "r");
  try {
    yield* linesIn(handle, most);
  } finally {
    await handle.close();
  }
}
