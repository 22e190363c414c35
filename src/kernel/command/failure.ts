/** Kinds of failure; main.ts has the exit code of each. */
export type FailureKind = "failed" | "usage" | "start" | "network" | "no_sim";

/** An error that the user can fix: printed on one line, without a stack trace. */
export class Failure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.kind = kind;
  }
}
