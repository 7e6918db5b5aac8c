import { createHash } from "node:crypto";
import type { Transition } from "../../../ledger/mod.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import type { RecordedEvent } from "../../../ledger/testing/mod.ts";

/** A fault this long before the receiver is told can make it be told again. */
const TELLING_MS = 20_000;

/** A rule of the simulation was broken. */
export class Broken extends Error {
  override readonly name = "Broken";
  /** Which rule. */
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.rule = rule;
  }
}

/** An answer of the endpoint that was no 2xx. */
export interface BadAnswer {
  readonly status: number;
  readonly askedMs: number;
  readonly answeredMs: number;
  /** When the store of the endpoint's process last failed or dawdled. */
  readonly lastFaultMs: number;
}

/** A session that the partner recorded. */
export interface RecordedSession {
  readonly orderId: string;
  readonly clickId: string;
  /** Whether it was recorded about when its order was made. */
  readonly soon: boolean;
}

/**
 * What the world outside saw of us: it forgets nothing and is not ours, so
 * that what we stored can be held against it.
 */
export class Journal {
  /** Requests handed to the endpoint, by digest of the body. */
  readonly reached = new Map<string, number>();
  /** Requests answered 2xx, by digest of the body. */
  readonly promised = new Map<string, number>();
  /** Answers that were no 2xx, since the last look. */
  badAnswers: BadAnswer[] = [];
  /** How often the receiver was told of each transition, by key. */
  readonly told = new Map<string, number>();
  /** Transitions that the receiver took to heart, in order. */
  readonly effects: Transition[] = [];
  /** Sessions that were recorded, and the one order of each. */
  readonly sessions = new Map<string, RecordedSession>();
  /** Errors that nobody expects, since the last look. */
  unexpected: unknown[] = [];
  /** Rules that work in the background found broken. */
  readonly broken: Broken[] = [];
  /** Orders that the service no longer shows, as it showed them last, by id. */
  readonly removed = new Map<string, SandboxOrder>();
  /** Events whose body was to be erased, as they were, by id. */
  readonly erased = new Map<string, RecordedEvent>();
  /** What people did with the ledger and finished, by kind. */
  readonly chores = new Map<string, number>();
  /** Faults so far, by kind. */
  readonly faults = new Map<string, number>();

  /** When a store or a process last failed, in milliseconds of the clock. */
  #lastFaultMs = -Infinity;
  /** When the receiver was last told of each transition, and by whom. */
  readonly #lastTold = new Map<
    string,
    { readonly ms: number; readonly by: object }
  >();
  /** What the receiver was told again although nothing had failed. */
  toldAgain: string[] = [];

  readonly #now: () => number;

  /** @param now The clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The receiver is told of a transition.
   *
   * @param by The run of a process that tells: one that follows another cannot
   * know what that told last.
   */
  tell(key: string, by: object): void {
    const before = this.#lastTold.get(key);
    const again = before?.by === by &&
      this.#lastFaultMs < before.ms - TELLING_MS;
    if (again) this.toldAgain.push(key);
    this.#lastTold.set(key, { ms: this.#now(), by });
    addOne(this.told, key);
  }

  count(fault: string): void {
    if (/^store (?!slow)|crash/.test(fault)) this.#lastFaultMs = this.#now();
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }
}

/** Ends the run unless a rule holds. */
export function check(
  rule: string,
  holds: boolean,
  detail: () => string,
): void {
  if (!holds) throw new Broken(rule, detail());
}

/** Adds one to a count. */
export function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** SHA-256 in hex. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
