/** Values that distinguish the measurements of one instrument. */
export type MeterLabels = Readonly<
  Record<string, string | number | boolean>
>;

/** What an instrument measures. */
export interface InstrumentOptions {
  /** What it measures, in one sentence. */
  readonly description?: string;
  /** Unit by UCUM: `s`, or a word in braces such as `{request}`. */
  readonly unit?: string;
  /** How values of a histogram are grouped: the upper bounds of its buckets. */
  readonly advice?: { explicitBucketBoundaries?: number[] };
}

/** Counts. */
export interface MeterCounter {
  /** Adds to the count; never a negative number. */
  add(value: number, labels?: MeterLabels): void;
}

/**
 * Takes values: a gauge keeps the latest, a histogram how many fall into each
 * bucket.
 */
export interface MeterRecorder {
  /** Takes a value. */
  record(value: number, labels?: MeterLabels): void;
}

/** Asks for values when they are exported. */
export interface MeterObserver {
  /** Adds a function that is called at each export. */
  addCallback(
    callback: (
      result: { observe(value: number, labels?: MeterLabels): void },
    ) => void,
  ): void;
}

/**
 * Makes the instruments that measure, in the form of OpenTelemetry's `Meter`, so
 * that one fits where a program has one.
 */
export interface Meter {
  /** Makes a counter. */
  createCounter(name: string, options?: InstrumentOptions): MeterCounter;
  /** Makes a histogram. */
  createHistogram(name: string, options?: InstrumentOptions): MeterRecorder;
  /** Makes a gauge. */
  createGauge(name: string, options?: InstrumentOptions): MeterRecorder;
  /** Makes a gauge that asks for its values. */
  createObservableGauge(
    name: string,
    options?: InstrumentOptions,
  ): MeterObserver;
}

const NOTHING = { add: () => {}, record: () => {}, addCallback: () => {} };

/** Measures nothing. */
export const NO_METER: Meter = {
  createCounter: () => NOTHING,
  createHistogram: () => NOTHING,
  createGauge: () => NOTHING,
  createObservableGauge: () => NOTHING,
};

/** Bounds of the buckets for durations, in seconds: a commit to a time-out. */
export const DURATION_BOUNDS: readonly number[] =
  "0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10".split(" ")
    .map(Number);
