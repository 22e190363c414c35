export interface Sink {
  readonly writableLength: number;
  write(text: string): boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** A reader that ends (`| head`) ends the output, but not the sim. */
export const survive = (sink: Sink): void => void sink.on("error", () => {});

/** Lines beyond this many waiting bytes are only counted: a slow reader must not fill the memory. */
const maxWaiting = 1024 * 1024;

/** Coalesces lines into one write per turn of the event loop. */
export function createLines(sink: Sink, later: (write: () => void) => void = setImmediate) {
  let waiting: string[] = [];
  let skipped = 0;
  const write = (text: string): void => {
    if (sink.writableLength > maxWaiting) {
      skipped += text.split("\n").length - 1;
      return;
    }
    sink.write(skipped > 0 ? `… ${skipped} lines left out: they were not read in time\n${text}` : text);
    skipped = 0;
  };
  const flush = (): void => {
    if (waiting.length === 0) return;
    const text = `${waiting.join("\n")}\n`;
    waiting = [];
    write(text);
  };
  return {
    flush,
    say(...lines: string[]) {
      if (lines.length === 0) return;
      if (waiting.length === 0) later(flush);
      waiting.push(...lines);
    },
  };
}

export type Lines = ReturnType<typeof createLines>;
