import { sleep } from "../../core/waiting/sleep.ts";
import type {
  Meter,
  MeterLabels,
  MeterRecorder,
} from "../../core/telemetry/meter.ts";
import type { OrderTally } from "../../ledger/for_server.ts";

/** What {@linkcode OrderGauges} work with. */
export interface OrderGaugesOptions {
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
export class LabelledGauge {
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
