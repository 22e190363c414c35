/** Synchronous fan-out. A subscriber that throws does not stop the others: its error goes to `onError`. */
export interface Bus<T> {
  publish(message: T): void;
  /** Returns the function that ends the subscription. */
  subscribe(listener: (message: T) => void): () => void;
  /** Number of listeners; publishers may skip work at 0. */
  readonly size: number;
}

export function createBus<T>(onError: (error: unknown) => void = () => {}): Bus<T> {
  const listeners = new Set<(message: T) => void>();
  return {
    get size() {
      return listeners.size;
    },
    publish(message) {
      for (const listener of listeners) {
        try {
          listener(message);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
