/**
 * A stream that ends at once when its reader leaves: a generator alone would go on waiting for what it waits for.
 * Nothing of it begins before it is read.
 */
export const endable = (make: (signal: AbortSignal) => AsyncGenerator<string>): AsyncIterable<string> => ({
  [Symbol.asyncIterator]() {
    const left = new AbortController();
    const made = make(left.signal);
    return {
      next: () => made.next(),
      return() {
        left.abort();
        return made.return(undefined);
      },
    };
  },
});
