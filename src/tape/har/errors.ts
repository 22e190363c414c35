/** A file that cannot be read as a HAR at all, or a tape that must not become one; the message is for the user. */
export class HarError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "HarError";
  }
}
