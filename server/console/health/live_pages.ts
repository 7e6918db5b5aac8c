import { sleep } from "../../../core/waiting/sleep.ts";
import { type HealthPart, healthParts } from "./health_bar.ts";
import { type DeliveryHealth, watchdog } from "../../../sync/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { found, type LookAtHealth } from "../../../resources/health/finding.ts";
import { CachedValue } from "../context/cached_value.ts";

/** Interval between two updates of an open page, ms. */
const EVERY_MS = 5000;

/** More open pages than this receive no changes. */
const MOST_PAGES = 100;

/** What open pages receive. */
export interface Beat {
  /** Health of everything, if it has changed; else null. */
  readonly parts: readonly HealthPart[] | null;
  /** Up to which event the ledger is worked out: what a page shows is older. */
  readonly position: number;
}

/**
 * Reports to open pages again and again that the server is there, its health,
 * and whether what they show may have changed.
 */
export class LivePages {
  readonly #health: Pick<HealthWatch, "parts">;
  readonly #position: () => Promise<number>;
  readonly #everyMs: number;
  readonly #ended = new AbortController();
  #pages = 0;

  /** Reports what a watch sees. */
  constructor(
    health: Pick<HealthWatch, "parts">,
    position: () => Promise<number>,
    everyMs: number = EVERY_MS,
  ) {
    this.#health = health;
    this.#position = position;
    this.#everyMs = everyMs;
  }

  /** Whether one more page can follow. */
  get hasRoom(): boolean {
    return this.#pages < MOST_PAGES && !this.#ended.signal.aborted;
  }

  /** Reports at once, and every few seconds. */
  async *follow(left: AbortSignal): AsyncGenerator<Beat> {
    const over = AbortSignal.any([left, this.#ended.signal]);
    this.#pages++;
    try {
      let shown = "";
      while (!over.aborted) {
        const parts = await this.#health.parts();
        const position = await this.#position();
        const text = JSON.stringify(parts);
        yield { parts: text === shown ? null : parts, position };
        shown = text;
        await sleep(this.#everyMs, over).catch(() => {}); // It is over then.
      }
    } finally {
      this.#pages--;
    }
  }

  /** Ends every {@linkcode LivePages.follow}. */
  end(): void {
    this.#ended.abort();
  }
}

/** A look older than this is repeated, ms. */
const OLD_MS = 10_000;

/** The first page waits at most this long, ms. */
const PATIENCE_MS = 500;

/**
 * Health of everything, checked now and then so that no page waits for it for
 * long.
 */
export class HealthWatch {
  /** Health of webhook delivery. */
  readonly delivery: CachedValue<DeliveryHealth>;
  readonly #parts: CachedValue<readonly HealthPart[]>;

  /** Watches a ledger; it does nothing unless asked. */
  constructor(ledger: Ledger, now: () => number, look: LookAtHealth) {
    const how = { now, oldMs: OLD_MS };
    this.delivery = new CachedValue(async () => {
      const { health } = await watchdog(ledger.driver, { nowMs: now() });
      return health;
    }, how);
    this.#parts = new CachedValue(async () => healthParts(await look()), how);
  }

  /** What is known now, or soon; else that it is being checked. */
  async parts(): Promise<readonly HealthPart[]> {
    const waited = new AbortController();
    const late = sleep(PATIENCE_MS, waited.signal).then(
      () => UNDER_WAY,
      () => UNDER_WAY,
    );
    try {
      return await Promise.race([this.#parts.value(), late]);
    } finally {
      waited.abort();
    }
  }

  /** Waits for a look that is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    await this.#parts.settled();
    await this.delivery.settled();
  }
}

const UNDER_WAY: readonly HealthPart[] = healthParts([]).map((part) => ({
  ...part,
  findings: [{
    ...found("not_looked_at"),
    level: "skipped",
    detail: "It is being checked; load the page again",
  }],
}));
