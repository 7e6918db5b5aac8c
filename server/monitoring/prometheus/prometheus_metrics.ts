import type {
  InstrumentOptions,
  Meter,
  MeterCounter,
  MeterLabels,
  MeterObserver,
  MeterRecorder,
} from "../../../core/telemetry/meter.ts";

/** Kind of a metric, as Prometheus names it. */
type FamilyType = "counter" | "gauge" | "histogram";

/** One value of a metric. */
interface Sample {
  /** What follows the metric's name; `_bucket` for example. */
  readonly suffix?: string;
  /** Its labels as {@linkcode labelText} writes them. */
  readonly labels: string;
  /** The value. */
  readonly value: number;
}

/** A metric with its values. */
interface Family {
  /** Its name. */
  readonly name: string;
  /** Its kind. */
  readonly type: FamilyType;
  /** What it measures. */
  readonly help: string;
  /** Its values. */
  readonly samples: readonly Sample[];
}

/** The media type of {@linkcode prometheusText}. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics in the text format of Prometheus, version 0.0.4. */
function prometheusText(families: readonly Family[]): string {
  let text = "";
  for (const { name, type, help, samples } of families) {
    if (samples.length === 0) continue;
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = "", labels, value } of samples) {
      const braces = labels === "" ? "" : `{${labels}}`;
      text += `${name}${suffix}${braces} ${numberText(value)}\n`;
    }
  }
  return text;
}

/** Writes labels, sorted by name, so that the same ones make the same text. */
export function labelText(labels: MeterLabels): string {
  return Object.keys(labels).sort().map((name) =>
    `${plainName(name)}="${escapeLabel(String(labels[name]))}"`
  ).join(",");
}

/**
 * The name of an instrument for Prometheus, by OpenTelemetry's rules: dots
 * become underscores, the unit is appended in words, and `_total` to a counter.
 */
function prometheusName(
  name: string,
  { type, unit = "" }: { readonly type: FamilyType; readonly unit?: string },
): string {
  return plainName(name) + (unit === "s" ? "_seconds" : "") +
    (type === "counter" ? "_total" : "");
}

/** Writes a number; the format has words for what JSON cannot write. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_");
}

function escapeLabel(text: string): string {
  return text.replace(
    /[\\"\n]/g,
    (character) => character === "\n" ? "\\n" : `\\${character}`,
  );
}

function escapeHelp(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
}

/** What is kept of the values under one set of labels. */
interface Series {
  /** Adds a value. */
  take(value: number): void;
  /** What is exported. */
  samples(labels: string): readonly Sample[];
}

/** Their sum: a counter. */
class Sum implements Series {
  #sum = 0;

  take(value: number): void {
    this.#sum += value;
  }

  samples(labels: string): readonly Sample[] {
    return [{ labels, value: this.#sum }];
  }
}

/** The latest of them: a gauge. */
class Latest implements Series {
  #value = 0;

  take(value: number): void {
    this.#value = value;
  }

  samples(labels: string): readonly Sample[] {
    return [{ labels, value: this.#value }];
  }
}

/** How many of them were at most as high as each bound: a histogram. */
class Histogram implements Series {
  readonly #bounds: readonly number[];
  /** Values up to a bound and over the one before; the last is over all. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds Upper bounds, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  take(value: number): void {
    let index = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      index++;
    }
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  samples(labels: string): readonly Sample[] {
    const samples: Sample[] = [];
    let count = 0;
    for (const [index, more] of this.#counts.entries()) {
      count += more;
      const bound = numberText(this.#bounds[index] ?? Infinity);
      const le = `le="${bound}"`;
      samples.push({
        suffix: "_bucket",
        labels: labels === "" ? le : `${labels},${le}`,
        value: count,
      });
    }
    return [
      ...samples,
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: count },
    ];
  }
}

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
