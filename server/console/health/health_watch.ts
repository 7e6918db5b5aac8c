import { messageOf } from "../../../core/guards.ts";
import { sleep } from "../../../core/waiting/sleep.ts";
import { type DeliveryHealth, watchdog } from "../../../sync/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { CachedValue } from "../context/cached_value.ts";
import { backlogHealth } from "./backlog_health.ts";
import { comparisonHealth } from "./comparison_health.ts";
import { forwardingHealth } from "./forwarding_health.ts";
import { HEALTH_PARTS, type HealthPart } from "./health_part.ts";
import { ledgerHealth } from "./ledger_health.ts";
import { pollingHealth } from "./polling_health.ts";
import { webhooksPart } from "./webhooks_health.ts";

/** Older than this it is looked at again, ms. */
const OLD_MS = 10_000;

/** The first page waits at most this long, ms. */
const PATIENCE_MS = 500;

/** How everything is, looked at now and then: no page waits for it for long. */
export class HealthWatch {
  /** How webhook delivery is. */
  readonly delivery: CachedValue<DeliveryHealth>;
  readonly #parts: CachedValue<readonly HealthPart[]>;

  /**
   * Watches a ledger; it does nothing unless asked.
   *
   * @param now Clock, ms since the epoch.
   */
  constructor(ledger: Ledger, now: () => number) {
    const how = { now, oldMs: OLD_MS };
    this.delivery = new CachedValue(async () => {
      const { health } = await watchdog(ledger.driver, { nowMs: now() });
      return health;
    }, how);
    this.#parts = new CachedValue(() => this.#look(ledger, now()), how);
  }

  /** What is known at once, or soon; else that it is being looked at. */
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

  #look(ledger: Ledger, nowMs: number): Promise<readonly HealthPart[]> {
    return Promise.all([
      part(
        "Webhooks",
        async () => webhooksPart(await this.delivery.find(), nowMs),
      ),
      part("Polling", () => pollingHealth(ledger, nowMs)),
      part("Ledger", () => ledgerHealth(ledger, nowMs)),
      part("Backlog", () => backlogHealth(ledger, nowMs)),
      part("Forwarding", () => forwardingHealth(ledger)),
      part("Comparison", () => comparisonHealth(ledger)),
    ]);
  }
}

const UNDER_WAY: readonly HealthPart[] = HEALTH_PARTS.map((name) => ({
  name,
  level: "unused",
  since: null,
  detail: "It is being looked at; load the page again",
  advice: null,
}));

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
