/** A stream as the CLI uses it: process.stdout, process.stderr. */
export interface Sink {
  readonly writableLength: number;
  write(text: string): boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** A reader that went away (`| head`) ends the output, never the sim. */
export const survive = (sink: Sink): void => void sink.on("error", () => {});

/** Lines that are written together: what is said within a moment costs one write. */
export interface Lines {
  say(...lines: string[]): void;
  /** Writes what is waiting, at once. */
  flush(): void;
}

/**
 * A reader that does not read must not fill our memory: beyond this many waiting bytes lines are counted,
 * not kept.
 */
const maxWaiting = 1024 * 1024;

/** Coalesces lines into one write per turn of the event loop. */
export function createLines(sink: Sink, later: (write: () => void) => void = setImmediate): Lines {
  let waiting: string[] = [];
  let skipped = 0;
  const write = (text: string): void => {
    if (sink.writableLength > maxWaiting) {
      skipped += text.split("\n").length - 1;
      return;
    }
    sink.write(skipped > 0 ? `… ${skipped} lines left out: nobody read them in time\n${text}` : text);
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
    say(...lines) {
      if (lines.length === 0) return;
      if (waiting.length === 0) later(flush);
      waiting.push(...lines);
    },
  };
}
