import { messageOf } from "../../core/guards.ts";
import type { AppendDelivery, Delivery } from "../../core/wire/delivery.ts";
import type { Deadlines } from "../endpoint/deadlines.ts";
import type { WriteLog } from "../endpoint/endpoint_log.ts";

/** What a {@linkcode LedgerAppender} works with. */
export interface LedgerAppenderOptions {
  readonly append: AppendDelivery;
  readonly deadlines: Deadlines;
  readonly log: WriteLog;
  /** Called after each append that succeeded. */
  readonly onAppended: () => void;
}

/** Appends deliveries, and knows whether the ledger is failing. */
export class LedgerAppender {
  readonly #options: LedgerAppenderOptions;
  #failure: string | null = null;
  /** Appends that have begun and not settled, waited for or not. */
  #underWay = 0;
  #onSettled: (() => void)[] = [];

  constructor(options: LedgerAppenderOptions) {
    this.#options = options;
  }

  /** Why the latest append failed; null while appends succeed. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Whether the append succeeded. Never rejects. */
  async append(delivery: Delivery): Promise<boolean> {
    this.#underWay++;
    try {
      await this.#options.append(delivery);
      this.#succeeded();
      return true;
    } catch (error) {
      this.failed(messageOf(error));
      return false;
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) {
        for (const resolve of this.#onSettled.splice(0)) resolve();
      }
    }
  }

  /** The same; null when the append has not settled at `dueAt`. */
  appendUntil(delivery: Delivery, dueAt: number): Promise<boolean | null> {
    return this.#options.deadlines.race(this.append(delivery), dueAt, null);
  }

  /** Remembers that the ledger failed, and logs the first failure. */
  failed(why: string): void {
    if (this.#failure === null) {
      this.#options.log({
        level: "error",
        code: "append_failing",
        message: "The ledger does not take deliveries",
        detail: why,
      });
    }
    this.#failure = why;
  }

  /** Resolves when no append is under way. */
  settled(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onSettled.push(resolve));
  }

  #succeeded(): void {
    if (this.#failure !== null) {
      this.#failure = null;
      this.#options.log({
        level: "info",
        code: "append_recovered",
        message: "The ledger takes deliveries again",
      });
    }
    this.#options.onAppended();
  }
}
