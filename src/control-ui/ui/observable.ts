/** Something that changes and tells its observers, at most one layer deep. */
export class Observable {
  readonly #observers = new Set<() => void>();

  /** The result stops it. */
  observe(observer: () => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  protected notify(): void {
    for (const observer of [...this.#observers]) observer();
  }
}
