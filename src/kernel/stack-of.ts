/** Anything thrown as text for whoever mends it: its stack where it has one. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
