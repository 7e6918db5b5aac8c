import type { Meter } from "../../core/telemetry/meter.ts";
import { sleep } from "../../core/waiting/sleep.ts";
import type { KeptDrift } from "../../sync/check/drift.ts";
import { LabelledGauge } from "./order_gauges.ts";

/** What a {@linkcode DriftWatch} works with. */
export interface DriftWatchOptions {
  /** Where it is measured. */
  readonly meter: Meter;
  /** Looks at what came since the last look. */
  readonly look: () => Promise<Pick<KeptDrift, "names">>;
}

/** Time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 15_000;

/**
 * Looks again and again whether answers and webhooks have what the description
 * of the service does not have, and measures it by name.
 */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #gauge: LabelledGauge;

  /** @param options What to work with. */
  constructor(options: DriftWatchOptions) {
    this.#options = options;
    this.#gauge = new LabelledGauge(
      options.meter.createGauge("rampkit.drift", {
        description:
          "How often something was met that the service's description does not have, by name",
      }),
    );
  }

  /** Looks until it is stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // What is wrong with the database is reported elsewhere.
      await this.look().catch(() => {});
      await sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  /** Looks once. */
  async look(): Promise<void> {
    const { names } = await this.#options.look();
    this.#gauge.set(
      Object.entries(names).map(([name, { count }]) => [{ name }, count]),
    );
  }
}
