/** Synchronous fan-out. A subscriber that throws does not stop the others: its error goes to `onError`. */
export function createBus<T>(onError: (error: unknown) => void = () => {}) {
  const listeners = new Set<(message: T) => void>();
  return {
    /** Number of listeners; publishers may skip work at 0. */
    get size() {
      return listeners.size;
    },
    publish(message: T) {
      for (const listener of listeners) {
        try {
          listener(message);
        } catch (error) {
          onError(error);
        }
      }
    },
    /** Returns the function that ends the subscription. */
    subscribe(listener: (message: T) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export type Bus<T> = ReturnType<typeof createBus<T>>;
