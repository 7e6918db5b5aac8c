import { messageOf } from "../../../core/guards.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { backlogHealth } from "./backlog_health.ts";
import { forwardingHealth } from "./forwarding_health.ts";
import type { HealthPart } from "./health_part.ts";
import { ledgerHealth } from "./ledger_health.ts";
import { pollingHealth } from "./polling_health.ts";
import { webhooksHealth } from "./webhooks_health.ts";

/** Older than this it is looked at again, ms. */
const OLD_MS = 10_000;

/** How everything is, looked at now and then: no page waits for it twice. */
export class HealthWatch {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  #parts: readonly HealthPart[] | null = null;
  #lookedMs = 0;
  #looking: Promise<readonly HealthPart[]> | null = null;

  /**
   * Watches a ledger; it does nothing unless asked.
   *
   * @param now Clock, ms since the epoch.
   */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** What is known at once; only the first caller waits. */
  async parts(): Promise<readonly HealthPart[]> {
    const ageMs = Math.abs(this.#now() - this.#lookedMs);
    if (this.#parts !== null && ageMs < OLD_MS) return this.#parts;
    const looking = this.look();
    return this.#parts ?? await looking;
  }

  /** Looks now. */
  look(): Promise<readonly HealthPart[]> {
    return this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
  }

  /** Waits for a look that is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<readonly HealthPart[]> {
    const nowMs = this.#now();
    const parts = await Promise.all([
      part("Webhooks", () => webhooksHealth(this.#ledger, nowMs)),
      part("Polling", () => pollingHealth(this.#ledger, nowMs)),
      part("Ledger", () => ledgerHealth(this.#ledger, nowMs)),
      part("Backlog", () => backlogHealth(this.#ledger, nowMs)),
      part("Forwarding", () => forwardingHealth(this.#ledger)),
    ]);
    this.#parts = parts;
    this.#lookedMs = this.#now();
    return parts;
  }
}

/** A part that cannot be looked at is bad itself. */
async function part(
  name: HealthPart["name"],
  look: () => Promise<HealthPart>,
): Promise<HealthPart> {
  try {
    return await look();
  } catch (error) {
    return {
      name,
      level: "bad",
      since: null,
      detail: `It cannot be looked at: ${messageOf(error)}`,
      advice: "rampkit doctor says more",
    };
  }
}
