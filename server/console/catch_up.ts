import { sleep } from "../../core/waiting/waiting.ts";
import type { Ledger } from "../../ledger/mod.ts";

/** A page waits at most this long for events that are not folded yet, ms. */
const PATIENCE_MS = 300;

/** Folds what waits before a page is made, as commands do before they read. */
export class CatchUp {
  readonly #ledger: Ledger;
  readonly #onError: (error: unknown) => void;
  readonly #stop = new AbortController();
  #folding: Promise<void> | null = null;

  /** Folds nothing until asked. */
  constructor(ledger: Ledger, onError: (error: unknown) => void) {
    this.#ledger = ledger;
    this.#onError = onError;
  }

  /** Resolves once everything is folded, or the page has waited enough. */
  async caughtUp(): Promise<void> {
    this.#folding ??= this.#fold().catch(this.#onError).finally(() => {
      this.#folding = null;
    });
    const waited = new AbortController();
    await Promise.race([
      this.#folding,
      sleep(PATIENCE_MS, waited.signal).catch(() => {}), // No longer needed.
    ]);
    waited.abort();
  }

  /** Ends what is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#folding;
  }

  async #fold(): Promise<void> {
    if (await this.#ledger.lag() === 0) return;
    await this.#ledger.project({ signal: this.#stop.signal });
  }
}
