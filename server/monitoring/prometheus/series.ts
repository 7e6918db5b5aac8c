import { numberText, type Sample } from "./prometheus_text.ts";

/** What is kept of the values under one set of labels. */
export interface Series {
  /** Takes a value. */
  take(value: number): void;
  /** What is exported. */
  samples(labels: string): readonly Sample[];
  /** The number; of a histogram, how many values each bucket has. */
  values(): readonly number[];
}

/** Their sum: a counter. */
export class Sum implements Series {
  #sum = 0;

  take(value: number): void {
    this.#sum += value;
  }

  samples(labels: string): readonly Sample[] {
    return [{ labels, value: this.#sum }];
  }

  values(): readonly number[] {
    return [this.#sum];
  }
}

/** The latest of them: a gauge. */
export class Latest implements Series {
  #value = 0;

  take(value: number): void {
    this.#value = value;
  }

  samples(labels: string): readonly Sample[] {
    return [{ labels, value: this.#value }];
  }

  values(): readonly number[] {
    return [this.#value];
  }
}

/** How many of them were at most as high as each bound: a histogram. */
export class Histogram implements Series {
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

  values(): readonly number[] {
    return [...this.#counts];
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
