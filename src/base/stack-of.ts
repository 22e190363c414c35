/** A thrown value as a string: its stack, if it has one. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
