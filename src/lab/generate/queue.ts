interface Entry<T> {
  readonly time: number;
  readonly order: number;
  readonly item: T;
}

const isBefore = <T>(a: Entry<T> | undefined, b: Entry<T> | undefined): boolean =>
  a !== undefined && b !== undefined && (a.time < b.time || (a.time === b.time && a.order < b.order));

/** A priority queue by time; items of the same time come in the order in which they were added. A binary heap. */
export class Queue<T> {
  readonly #entries: Entry<T>[] = [];
  #added = 0;

  /** The time of the next item; undefined if there is none. */
  get nextTime(): number | undefined {
    return this.#entries[0]?.time;
  }

  add(time: number, item: T): void {
    let at = this.#entries.length;
    this.#entries.push({ time, order: this.#added++, item });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(this.#entries[at], this.#entries[parent])) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Removes the next item; undefined if there is none. */
  take(): T | undefined {
    this.#swap(0, this.#entries.length - 1);
    const taken = this.#entries.pop();
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = isBefore(this.#entries[left + 1], this.#entries[left]) ? left + 1 : left;
      if (!isBefore(this.#entries[child], this.#entries[at])) return taken?.item;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#entries[one], this.#entries[other]];
    if (!a || !b) return;
    this.#entries[one] = b;
    this.#entries[other] = a;
  }
}
