/** Keyed hashes of what leads to an order. */
import { Buffer } from "node:buffer";

/** What kind of text leads to an order. */
export type LookupKind =
  | "session"
  | "click"
  | "external"
  | "reference"
  | "tx"
  | "address"
  | "card"
  | "user"
  | "asked_click"
  | "asked_reference";

/**
 * Hashes texts that strangers choose: with the ledger's key, so that nobody can make
 * two of them collide. Case counts only of users and of what the partner asked for.
 *
 * It is HalfSipHash-2-4 over UTF-16: a tenth of the time that SHA-256 takes for an id,
 * and an order has six. What is found by it is compared with the text itself.
 */
export class LookupHash {
  readonly #low: number;
  readonly #high: number;

  constructor(key: Uint8Array) {
    const bytes = Buffer.concat([key, new Uint8Array(8)]);
    this.#low = bytes.readInt32LE(0);
    this.#high = bytes.readInt32LE(4);
  }

  /** @returns A number of 52 bits. */
  of(kind: LookupKind, text: string): number {
    const exact = kind === "asked_click" || kind === "asked_reference" ||
      kind === "user";
    return this.#hash(`${kind}\0${exact ? text : text.toLowerCase()}`);
  }

  #hash(text: string): number {
    let a = this.#low;
    let b = this.#high ^ 0xee;
    let c = this.#low ^ 0x6c796765;
    let d = this.#high ^ 0x74656462;
    const mix = (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        a = (a + b) | 0;
        b = turned(b, 5) ^ a;
        a = turned(a, 16);
        c = (c + d) | 0;
        d = turned(d, 8) ^ c;
        a = (a + d) | 0;
        d = turned(d, 7) ^ a;
        c = (c + b) | 0;
        b = turned(b, 13) ^ c;
        c = turned(c, 16);
      }
    };
    for (let at = 0; at <= text.length; at += 2) {
      // The last word is the length, or ends with it.
      const next = at + 1 < text.length
        ? text.charCodeAt(at + 1)
        : text.length & 0xffff;
      const word = (at < text.length ? text.charCodeAt(at) : 0) | (next << 16);
      d ^= word;
      mix(2);
      a ^= word;
    }
    c ^= 0xee;
    mix(4);
    const first = (b ^ d) >>> 0;
    b ^= 0xdd;
    mix(4);
    return first * 2 ** 20 + ((b ^ d) >>> 12);
  }
}

function turned(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
