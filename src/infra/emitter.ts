/** A typed list of listeners. A listener that throws does not stop the others; the error goes to `onError`. */
export interface Emitter<T> {
  /** Adds a listener; call the result to remove it. */
  on(listener: (value: T) => void): () => void;
  emit(value: T): void;
}

export function createEmitter<T>(onError: (err: unknown) => void): Emitter<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(value) {
      for (const listener of [...listeners]) {
        try {
          listener(value);
        } catch (err) {
          onError(err);
        }
      }
    },
  };
}
