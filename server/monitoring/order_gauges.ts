import { sleep } from "../../core/waiting/waiting.ts";
import type {
  Meter,
  MeterLabels,
  MeterRecorder,
} from "../../core/telemetry/meter.ts";
import type { OrderTally } from "../../ledger/for_server.ts";
import type { KeptDrift } from "../../sync/check/drift.ts";

/** What {@linkcode OrderGauges} work with. */
interface OrderGaugesOptions {
  /** Where they are measured. */
  readonly meter: Meter;
  /** Counts the orders. */
  readonly tally: () => Promise<OrderTally>;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Time between two counts, ms. */
const REST_MS = 15_000;
/** A large ledger is counted less often: most of its time is for deliveries. */
const REST_PER_COUNT = 100;

/** Orders by status and age, and by anomaly, counted from time to time. */
export class OrderGauges {
  readonly #options: OrderGaugesOptions;
  readonly #orders: LabelledGauge;
  readonly #open: LabelledGauge;
  readonly #age: LabelledGauge;
  readonly #anomalies: LabelledGauge;

  /** @param options What to work with. */
  constructor(options: OrderGaugesOptions) {
    this.#options = options;
    const gauge = (name: string, description: string, unit: string) =>
      new LabelledGauge(options.meter.createGauge(name, { description, unit }));
    this.#orders = gauge("rampkit.orders", "Orders by status", "{order}");
    this.#open = gauge(
      "rampkit.orders.open",
      "Orders that may still change, by status and trust",
      "{order}",
    );
    this.#age = gauge(
      "rampkit.orders.open.age",
      "How long ago the oldest of them was created",
      "s",
    );
    this.#anomalies = gauge(
      "rampkit.orders.anomalies",
      "Orders with an anomaly, by its kind",
      "{order}",
    );
  }

  /** Counts again and again until it is stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = performance.now();
      // What is wrong with the database is reported elsewhere.
      await this.look().catch(() => {});
      const took = performance.now() - begun;
      await sleep(Math.max(REST_MS, REST_PER_COUNT * took), signal)
        .catch(() => {});
    }
  }

  /** Counts once. */
  async look(): Promise<void> {
    const { tally, now } = this.#options;
    const { byStatus, open, byAnomaly } = await tally();
    const nowMs = now();
    this.#orders.set(
      [...byStatus].map(([status, count]) => [{ status }, count]),
    );
    this.#open.set(
      open.map(({ status, trust, count }) => [{ status, trust }, count]),
    );
    this.#age.set(open.map(({ status, trust, oldestAt }) => [
      { status, trust },
      Math.max(0, nowMs - Date.parse(oldestAt)) / 1000,
    ]));
    this.#anomalies.set(
      [...byAnomaly].map(([kind, count]) => [{ kind }, count]),
    );
  }
}

/** A gauge whose labels come and go: one that is gone is 0. */
class LabelledGauge {
  readonly #recorder: MeterRecorder;
  readonly #set = new Map<string, MeterLabels>();

  constructor(recorder: MeterRecorder) {
    this.#recorder = recorder;
  }

  set(values: readonly (readonly [MeterLabels, number])[]): void {
    const gone = new Map(this.#set);
    for (const [labels, value] of values) {
      const key = JSON.stringify(labels);
      gone.delete(key);
      this.#set.set(key, labels);
      this.#recorder.record(value, labels);
    }
    for (const labels of gone.values()) this.#recorder.record(0, labels);
  }
}

/** What a {@linkcode DriftWatch} works with. */
interface DriftWatchOptions {
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
