/** The one row that every batch moves which folds, erases or begins a release. */
import { Buffer } from "node:buffer";
import {
  bytesOf,
  type Driver,
  readDeciding,
  type Rows,
  type Statement,
} from "../store/database.ts";
import { timeOf } from "../store/events.ts";

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

export interface Guard {
  readonly environment: string;
  readonly key: Uint8Array;
  readonly hash: LookupHash;
  /** UTC ISO 8601. */
  readonly createdAt: string;
  /** From when on transitions are sent, UTC ISO 8601; null before. */
  readonly goLive: string | null;
  readonly foldVersion: number;
  /** Position of the last event that is folded. */
  readonly position: number;
  readonly turn: number;
  readonly erasures: number;
  readonly counts: Readonly<Record<string, number>>;
}

export const selectGuard: Statement = {
  sql: `SELECT environment, key, created_at, live_from, fold_version, position,
    turn, erasures, counts FROM ledger`,
  args: [],
};

export function guardOf(rows: Rows | undefined): Guard {
  const [row = []] = rows ?? [];
  return {
    environment: String(row[0]),
    key: bytesOf(row[1]),
    hash: new LookupHash(bytesOf(row[1])),
    createdAt: timeOf(row[2]) ?? "",
    goLive: timeOf(row[3]),
    foldVersion: Number(row[4]),
    position: Number(row[5]),
    turn: Number(row[6]),
    erasures: Number(row[7]),
    counts: JSON.parse(String(row[8] ?? "{}")),
  };
}

export async function readGuard(driver: Driver): Promise<Guard> {
  return guardOf((await readDeciding(driver, [selectGuard]))[0]);
}

/**
 * Begins a write batch that leaves what `to` says in the row. If another process was
 * first the batch fails with `conflict`, and nothing of it is written.
 */
export function moveGuard(
  from: Guard,
  to: Partial<Guard> = {},
): Statement {
  const { position, foldVersion, erasures, counts } = { ...from, ...to };
  const args = [from.turn, from.foldVersion, position, foldVersion];
  return {
    sql: `UPDATE ledger SET position = ?3, fold_version = ?4, erasures = ?5,
      counts = ?6, environment = ?7,
      turn = CASE WHEN turn = ?1 AND fold_version = ?2 THEN turn + 1 END`,
    args: [...args, erasures, JSON.stringify(counts), from.environment],
    expects: true,
  };
}
