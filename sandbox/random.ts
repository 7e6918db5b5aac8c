/**
 * Seeded randomness (xoshiro128**). Every purpose forks its own stream by
 * name, so that switching one fault on leaves all other choices as they were.
 */
export class Random {
  readonly #seed: number;
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number, name = "") {
    this.#seed = seed;
    this.#name = name;
    let state = hash(`${seed}/${name}`);
    // Four draws of splitmix32, so that close seeds give different streams.
    const draw = () => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      return (mixed ^ (mixed >>> 15)) >>> 0;
    };
    this.#a = draw();
    this.#b = draw();
    this.#c = draw();
    this.#d = draw() | 1;
  }

  /** A stream of its own for one purpose. */
  fork(name: string): Random {
    return new Random(this.#seed, `${this.#name}/${name}`);
  }

  /** 32 random bits. */
  uint32(): number {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A number from 0 up to, and without, 1. */
  unit(): number {
    return this.uint32() / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  /** True at the given rate. Always draws, so that streams stay aligned. */
  chance(rate: number): boolean {
    return this.unit() < rate;
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined && items.length === 0) {
      throw new RangeError("Cannot pick: the list is empty");
    }
    return item as T;
  }

  /** A string of `length` characters of `alphabet`. */
  text(alphabet: string, length: number): string {
    let out = "";
    for (let at = 0; at < length; at++) {
      out += alphabet[this.int(0, alphabet.length - 1)];
    }
    return out;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value | 0;
}
