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

/** What an instrument has measured under one set of labels. */
export interface Measured {
  /** The labels. */
  readonly labels: MeterLabels;
  /** The number; of a histogram, how many values each bucket has. */
  readonly values: readonly number[];
}

/**
 * Keeps what instruments measure, for Prometheus to collect. Each instrument
 * hands its measurements on to another meter as well, so that a value is
 * measured in one place for both.
 */
export class PrometheusMetrics {
  readonly #families: (() => Family)[] = [];
  readonly #kept = new Map<string, (() => LabelledSeries)[]>();

  /**
   * Makes a meter.
   *
   * @param also Gets every measurement too; a meter of OpenTelemetry.
   */
  meter(also: Meter): Meter {
    return {
      createCounter: (name, options) => this.#counter(also, name, options),
      createGauge: (name, options) => this.#gauge(also, name, options),
      createHistogram: (name, options) => this.#histogram(also, name, options),
      createObservableGauge: (name, options) =>
        this.#observable(also, name, options),
    };
  }

  /** Writes everything in the text format of Prometheus. */
  text(): string {
    return prometheusText(this.#families.map((family) => family()));
  }

  /**
   * What an instrument has measured so far.
   *
   * @param name Its name, as it was made with.
   * @returns Of each instrument of that name; nothing before one has measured.
   */
  read(name: string): readonly Measured[] {
    const kept = this.#kept.get(name) ?? [];
    return kept.flatMap((series) => series().measured());
  }

  #counter(also: Meter, name: string, options = {}): MeterCounter {
    const other = also.createCounter(name, options);
    const kept = new LabelledSeries(() => new Sum());
    this.#add(name, "counter", options, () => kept);
    return {
      add: (value, labels = NO_LABELS) => {
        kept.of(labels).take(value);
        other.add(value, labels);
      },
    };
  }

  #gauge(also: Meter, name: string, options = {}): MeterRecorder {
    const other = also.createGauge(name, options);
    const kept = new LabelledSeries(() => new Latest());
    this.#add(name, "gauge", options, () => kept);
    return recorder(kept, other);
  }

  #histogram(
    also: Meter,
    name: string,
    options: InstrumentOptions = {},
  ): MeterRecorder {
    const other = also.createHistogram(name, options);
    const bounds = options.advice?.explicitBucketBoundaries ?? [];
    const kept = new LabelledSeries(() => new Histogram(bounds));
    this.#add(name, "histogram", options, () => kept);
    return recorder(kept, other);
  }

  #observable(also: Meter, name: string, options = {}): MeterObserver {
    const other = also.createObservableGauge(name, options);
    const callbacks: Parameters<MeterObserver["addCallback"]>[0][] = [];
    this.#add(name, "gauge", options, () => {
      const observed = new LabelledSeries(() => new Latest());
      const observe = (value: number, labels: MeterLabels = NO_LABELS) =>
        observed.of(labels).take(value);
      for (const callback of callbacks) callback({ observe });
      return observed;
    });
    return {
      addCallback: (callback) => {
        callbacks.push(callback);
        other.addCallback(callback);
      },
    };
  }

  #add(
    name: string,
    type: FamilyType,
    { description = "", unit = "" }: InstrumentOptions,
    kept: () => LabelledSeries,
  ): void {
    this.#kept.set(name, [...this.#kept.get(name) ?? [], kept]);
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
  readonly #byText = new Map<
    string,
    { readonly labels: MeterLabels; readonly series: Series }
  >();
  /** The hot path passes the same objects again and again. */
  readonly #byObject = new WeakMap<MeterLabels, Series>();

  constructor(make: () => Series) {
    this.#make = make;
  }

  of(labels: MeterLabels): Series {
    const known = this.#byObject.get(labels);
    if (known !== undefined) return known;
    const text = labelText(labels);
    const series = this.#byText.get(text)?.series ?? this.#make();
    this.#byText.set(text, { labels, series });
    this.#byObject.set(labels, series);
    return series;
  }

  samples(): Sample[] {
    return [...this.#byText].flatMap(([text, { series }]) =>
      series.samples(text)
    );
  }

  measured(): Measured[] {
    return [...this.#byText.values()].map(({ labels, series }) => ({
      labels,
      values: series.values(),
    }));
  }
}

function recorder(kept: LabelledSeries, other: MeterRecorder): MeterRecorder {
  return {
    record: (value, labels = NO_LABELS) => {
      kept.of(labels).take(value);
      other.record(value, labels);
    },
  };
}
