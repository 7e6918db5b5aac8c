import type {
  InstrumentOptions,
  Meter,
  MeterCounter,
  MeterLabels,
  MeterObserver,
  MeterRecorder,
} from "../../../core/telemetry/meter.ts";
import {
  type Family,
  type FamilyType,
  Histogram,
  labelText,
  Latest,
  prometheusName,
  prometheusText,
  type Sample,
  type Series,
  Sum,
} from "./prometheus_text.ts";

const NO_LABELS: MeterLabels = {};

/** Keeps what instruments measure, for Prometheus to collect. */
export class PrometheusMetrics implements Meter {
  readonly #families: (() => Family)[] = [];

  /** Writes everything in the text format of Prometheus. */
  text(): string {
    return prometheusText(this.#families.map((family) => family()));
  }

  createCounter(name: string, options?: InstrumentOptions): MeterCounter {
    const kept = new LabelledSeries(() => new Sum());
    this.#add(name, "counter", options, () => kept);
    return { add: (value, labels = NO_LABELS) => kept.of(labels).take(value) };
  }

  createGauge(name: string, options?: InstrumentOptions): MeterRecorder {
    const kept = new LabelledSeries(() => new Latest());
    this.#add(name, "gauge", options, () => kept);
    return recorder(kept);
  }

  createHistogram(name: string, options?: InstrumentOptions): MeterRecorder {
    const bounds = options?.advice?.explicitBucketBoundaries ?? [];
    const kept = new LabelledSeries(() => new Histogram(bounds));
    this.#add(name, "histogram", options, () => kept);
    return recorder(kept);
  }

  createObservableGauge(
    name: string,
    options?: InstrumentOptions,
  ): MeterObserver {
    const callbacks: Parameters<MeterObserver["addCallback"]>[0][] = [];
    this.#add(name, "gauge", options, () => {
      const observed = new LabelledSeries(() => new Latest());
      const observe = (value: number, labels: MeterLabels = NO_LABELS) =>
        observed.of(labels).take(value);
      for (const callback of callbacks) callback({ observe });
      return observed;
    });
    return { addCallback: (callback) => callbacks.push(callback) };
  }

  #add(
    name: string,
    type: FamilyType,
    options: InstrumentOptions | undefined,
    kept: () => LabelledSeries,
  ): void {
    const { description = "", unit = "" } = options ?? {};
    this.#families.push(() => ({
      name: prometheusName(name, { type, unit }),
      type,
      help: description,
      samples: kept().samples(),
    }));
  }
}

/** The series of an instrument, one for each set of labels. */
class LabelledSeries {
  readonly #make: () => Series;
  readonly #byText = new Map<string, Series>();
  /** The hot path passes the same objects again and again. */
  readonly #byObject = new WeakMap<MeterLabels, Series>();

  constructor(make: () => Series) {
    this.#make = make;
  }

  of(labels: MeterLabels): Series {
    const known = this.#byObject.get(labels);
    if (known !== undefined) return known;
    const text = labelText(labels);
    const series = this.#byText.get(text) ?? this.#make();
    this.#byText.set(text, series);
    this.#byObject.set(labels, series);
    return series;
  }

  samples(): Sample[] {
    return [...this.#byText].flatMap(([text, series]) => series.samples(text));
  }
}

function recorder(kept: LabelledSeries): MeterRecorder {
  return {
    record: (value, labels = NO_LABELS) => kept.of(labels).take(value),
  };
}
