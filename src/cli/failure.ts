/** Ways a command can end badly. main.ts alone knows which exit code each one gets. */
export type FailureKind = "failed" | "usage" | "start" | "network" | "no_sim";

/** What a command throws when the user can do something about it: one line, no stack trace. */
export class Failure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.kind = kind;
  }
}
