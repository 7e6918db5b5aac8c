import { sleep } from "../../../core/waiting/sleep.ts";
import type { HealthPart } from "./health_part.ts";
import type { HealthWatch } from "./health_watch.ts";

/** How often an open page is looked after, ms. */
const EVERY_MS = 5000;

/** More open pages than this are not told of changes. */
const MOST_PAGES = 100;

/** Tells open pages how everything is, whenever that changes. */
export class LiveHealth {
  readonly #health: Pick<HealthWatch, "parts">;
  readonly #everyMs: number;
  readonly #ended = new AbortController();
  #pages = 0;

  /**
   * Tells of what a watch sees.
   *
   * @param everyMs How often it looks.
   */
  constructor(health: Pick<HealthWatch, "parts">, everyMs: number = EVERY_MS) {
    this.#health = health;
    this.#everyMs = everyMs;
  }

  /** Whether one more page can be told. */
  get hasRoom(): boolean {
    return this.#pages < MOST_PAGES && !this.#ended.signal.aborted;
  }

  /**
   * How everything is, at once and whenever it changes; null now and then in
   * between, so that a connection that is gone is noticed.
   *
   * @param left Aborted when the page is gone.
   */
  async *follow(
    left: AbortSignal,
  ): AsyncGenerator<readonly HealthPart[] | null> {
    const over = AbortSignal.any([left, this.#ended.signal]);
    this.#pages++;
    try {
      let shown = "";
      while (!over.aborted) {
        const parts = await this.#health.parts();
        const text = JSON.stringify(parts);
        yield text === shown ? null : parts;
        shown = text;
        await sleep(this.#everyMs, over).catch(() => {}); // It is over then.
      }
    } finally {
      this.#pages--;
    }
  }

  /** Ends every {@linkcode LiveHealth.follow}. */
  end(): void {
    this.#ended.abort();
  }
}
