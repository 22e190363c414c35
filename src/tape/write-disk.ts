import { TapeError } from "./tape-error.ts";
import type { VolumeWriter } from "./volume-writer.ts";
import type { Troubles } from "./write-trouble.ts";

/** How long a line may wait for the disk: a killed process loses nothing that was written, a power cut does. */
const syncAfterMs = 250;

/** Brings what was written to the disk. */
export interface Disk {
  /** In a while; asked again meanwhile, it is done once. */
  soon(): void;
  /** Now; trouble is told before `done` is called. */
  now(done: () => void): void;
  /** A last time. */
  close(): void;
}

const gone = (file: string): TapeError =>
  new TapeError(`${file} was deleted`, { file, hint: "start the recording again; what it had is lost" });

export function createDisk(file: string, volumes: VolumeWriter, troubles: Troubles): Disk {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** A deleted file takes whatever is written, and nobody ever sees it. */
  function check(): void {
    if (volumes.current().isGone()) throw gone(file);
  }

  function now(done: () => void): void {
    try {
      check();
      const target = volumes.current();
      target.sync((error) => {
        // A file that was full meanwhile, or the last one, was synchronised when it was closed.
        if (error && !isClosed && target === volumes.current()) troubles.end(error);
        done();
      });
    } catch (error) {
      troubles.end(error);
      done();
    }
  }

  return {
    now,
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!isClosed) now(() => {});
      }, syncAfterMs).unref();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      try {
        check();
      } catch (error) {
        troubles.end(error);
      }
      try {
        volumes.current().close();
      } catch (error) {
        troubles.end(error);
      }
    },
  };
}
