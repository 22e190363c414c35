import { fileTrouble } from "./tape-error.ts";

/** Why something, or everything from now on, does not get onto the tape. */
export interface TapeTrouble {
  detail: string;
  hint: string;
  /** Is the recording over? Otherwise only one exchange is missing. */
  isOver: boolean;
}

const lost = (error: unknown, file: string): TapeTrouble => ({
  detail: `an exchange could not be recorded on ${file}: ${error instanceof Error ? error.message : String(error)}`,
  hint: "the rest is recorded; please report it with the request that it was",
  isOver: false,
});

const over = (error: unknown, file: string): TapeTrouble => {
  const { message, hint } = fileTrouble(file, "written", error);
  return { detail: `recording has stopped: ${message}`, hint, isOver: true };
};

/** What went wrong while a tape was written. */
export interface Troubles {
  /** An exchange is lost. */
  lose(error: unknown): void;
  /** The recording is over. */
  end(error: unknown): void;
  isOver(): boolean;
  /** Trouble that ended the recording, else what cost an exchange. */
  worst(): TapeTrouble | undefined;
}

/** Each kind of trouble is told once: a full disk would be told with every request. */
export function createTroubles(file: string, onTrouble: (trouble: TapeTrouble) => void = () => {}): Troubles {
  const told = new Map<boolean, TapeTrouble>();
  function tell(trouble: TapeTrouble): void {
    if (told.has(trouble.isOver)) return;
    told.set(trouble.isOver, trouble);
    onTrouble(trouble);
  }
  return {
    lose: (error) => tell(lost(error, file)),
    end: (error) => tell(over(error, file)),
    isOver: () => told.has(true),
    worst: () => told.get(true) ?? told.get(false),
  };
}
