/** Seeded randomness: a seed and a name give the same draws for ever. */
export class Dice {
  readonly #seed: string;
  #state: number;

  /** @param seed Any text; close ones give unlike streams. */
  constructor(seed: string) {
    this.#seed = seed;
    // FNV-1a, so that one changed character changes every draw.
    let hash = 0x811c9dc5;
    for (let at = 0; at < seed.length; at++) {
      hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
    }
    this.#state = hash | 0;
  }

  /** A stream of its own for one purpose. */
  fork(name: string): Dice {
    return new Dice(`${this.#seed}/${name}`);
  }

  /** A number from 0 up to, and without, 1 (splitmix32). */
  unit(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  /** True at the given rate. */
  chance(rate: number): boolean {
    return this.unit() < rate;
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (items.length === 0) throw new RangeError("Cannot pick from nothing");
    return item as T;
  }

  /** One of the items, the more often the heavier. */
  weighted<T>(items: readonly (readonly [number, T])[]): T {
    const sum = items.reduce((total, [weight]) => total + weight, 0);
    let left = this.unit() * sum;
    for (const [weight, item] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new RangeError("Cannot pick from nothing");
  }

  /** The same items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let at = out.length - 1; at > 0; at--) {
      const other = this.int(0, at);
      [out[at], out[other]] = [out[other] as T, out[at] as T];
    }
    return out;
  }

  /** Bytes. */
  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.int(0, 255));
  }
}
