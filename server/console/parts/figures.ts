import type { DeliveryHealth } from "../../../sync/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import type {
  StatisticsPoint,
  StatisticsStep,
} from "../../../ledger/for_resources.ts";
import { statistics } from "../../../resources/queries/statistics.ts";
import { type Markup, markup } from "../markup/markup.ts";

/** How far back the plots go. */
export const RANGES: Readonly<
  Record<
    string,
    {
      readonly ms: number;
      readonly step: StatisticsStep;
      /** What one point counts, in words. */
      readonly each: string;
    }
  >
> = {
  hour: { ms: 3_600_000, step: "minute", each: "a minute" },
  day: { ms: 24 * 3_600_000, step: "ten_minutes", each: "ten minutes" },
  week: { ms: 7 * 24 * 3_600_000, step: "hour", each: "an hour" },
};

/** The range that an address names; a day unless it names one. */
export function rangeOf(text: string | undefined): string {
  return text !== undefined && Object.hasOwn(RANGES, text) ? text : "day";
}

/** One line of a plot. */
interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** What one plot draws. */
interface Plot {
  readonly series: readonly Line[];
  readonly unit: string;
}

/** What the script of the delivery page draws. */
export interface Figures {
  /** Time of each point, in seconds since the epoch. */
  readonly times: readonly number[];
  /** Times at which the watchdog saw something, in seconds. */
  readonly marks: readonly { readonly at: number }[];
  /** The plots by their name in the page. */
  readonly plots: Readonly<Record<PlotName, Plot>>;
}

/** The plots, in the order of the page, each with what it shows. */
export const PLOTS = {
  moved: "Orders that moved, and webhooks received: a gap between the two " +
    "means that delivery may be off",
  answers: "Deliveries by answer",
  times: "Time to the answer: half of them, and 99 of 100",
  reading: "Age of the last reading of the service",
  backlog: "What waits: to be confirmed, to be folded, to go into the ledger",
} as const;

/** Name of a plot. */
export type PlotName = keyof typeof PLOTS;

/** The figures of a range, up to now. */
export async function figures(
  ledger: Ledger,
  { range, health, nowMs }: {
    readonly range: string;
    readonly health: Pick<DeliveryHealth, "since" | "failingSince">;
    readonly nowMs: number;
  },
): Promise<Figures> {
  const { ms = 0, step = "hour" } = RANGES[range] ?? {};
  const { points } = await statistics(ledger, {
    from: new Date(nowMs - ms).toISOString(),
    to: new Date(nowMs).toISOString(),
    step,
  }, nowMs);
  const marks = [health.since, health.failingSince].filter((at) => at !== null);
  return {
    times: points.map(({ at }) => Date.parse(at) / 1000),
    marks: marks.map((at) => ({ at: Date.parse(at) / 1000 })),
    plots: plotsOf(points),
  };
}

function plotsOf(
  points: readonly StatisticsPoint[],
): Readonly<Record<PlotName, Plot>> {
  const line = (
    label: string,
    value: (point: StatisticsPoint) => number | null,
  ): Line => ({ label, values: points.map(value) });
  /** Counts of which nothing is known while no process writes. */
  const counted = (
    label: string,
    value: (point: StatisticsPoint) => number,
  ): Line =>
    line(label, (point) => point.processes === 0 ? null : value(point));
  const answers = [
    ...new Set(points.flatMap(({ answers }) => Object.keys(answers))),
  ].sort();
  return {
    moved: {
      series: [
        line("Orders moved", ({ ordersMoved }) => ordersMoved),
        counted("Webhooks received", ({ received }) => received),
      ],
      unit: "",
    },
    answers: {
      series: answers.map((answer) =>
        counted(answer, (point) => point.answers[answer] ?? 0)
      ),
      unit: "",
    },
    times: {
      series: [
        line("Half of them", ({ p50Ms }) => p50Ms),
        line("99 of 100", ({ p99Ms }) => p99Ms),
      ],
      unit: " ms",
    },
    reading: {
      series: [
        line(
          "Age",
          ({ readingAgeMs }) =>
            readingAgeMs === null ? null : Math.round(readingAgeMs / 1000),
        ),
      ],
      unit: " s",
    },
    backlog: {
      series: [
        line("To be confirmed", ({ backlogKnown }) => backlogKnown),
        line("Never shown", ({ backlogUnknown }) => backlogUnknown),
        line("To be folded", ({ lag }) => lag),
        line("In the spool", ({ spooled }) => spooled),
      ],
      unit: "",
    },
  };
}

/** The boxes that the script draws plots into, and the choice of a range. */
export function plots(range: string): Markup {
  const choices = Object.keys(RANGES).map((one) =>
    markup`<a class="button" href="/delivery?range=${one}" ${
      one === range && markup`aria-current="true"`
    }>${one}</a> `
  );
  const boxes = Object.entries(PLOTS).map(([name, what]) =>
    markup`<h3>${what}</h3>
<div class="plot" data-plot="${name}" role="img" aria-label="${what}"></div>`
  );
  return markup`<p class="row">The last ${choices} <span class="soft">Each point is ${
    RANGES[range]?.each ?? ""
  }.</span></p>
<noscript><p class="notice">Plots need script. <code>rampkit doctor</code> and the lists below do without.</p></noscript>
<div id="plots" data-range="${range}">${boxes}</div>
<p class="soft">A running <code>serve</code> writes these figures each minute. A dashed line is when the watchdog began to see something.</p>`;
}
