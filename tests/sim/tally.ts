import type { SimReport } from "./simulate.ts";

/** What many runs came to. */
export interface Tally {
  runs: number;
  /** Virtual milliseconds. */
  virtualMs: number;
  steps: number;
  orders: number;
  events: number;
  /** Longest time from healing to agreement, in virtual milliseconds. */
  slowestAgreementMs: number;
  /** Faults by kind. */
  readonly faults: Record<string, number>;
  /** What people did with the ledger and finished, by kind. */
  readonly chores: Record<string, number>;
  /** Seeds that broke a rule, and which. */
  readonly broken: { readonly seed: number; readonly rule: string }[];
}

/** Nothing yet. */
export function emptyTally(): Tally {
  return {
    runs: 0,
    virtualMs: 0,
    steps: 0,
    orders: 0,
    events: 0,
    slowestAgreementMs: 0,
    faults: {},
    chores: {},
    broken: [],
  };
}

/** Adds a run. */
export function addTo(tally: Tally, report: SimReport): void {
  tally.runs++;
  tally.virtualMs += report.virtualMs;
  tally.steps += report.steps;
  tally.orders += report.orders;
  tally.events += report.events;
  tally.slowestAgreementMs = Math.max(
    tally.slowestAgreementMs,
    report.agreedAfterMs ?? 0,
  );
  for (const [fault, count] of Object.entries(report.faults)) {
    tally.faults[fault] = (tally.faults[fault] ?? 0) + count;
  }
  for (const [chore, count] of Object.entries(report.chores)) {
    tally.chores[chore] = (tally.chores[chore] ?? 0) + count;
  }
  if (report.broken !== null) {
    tally.broken.push({ seed: report.seed, rule: report.broken.rule });
  }
}

/** The same for people. */
export function tallyLines(tally: Tally, tookMs: number): string[] {
  const hours = Math.round(tally.virtualMs / 3_600_000);
  const faults = sorted(tally.faults);
  const sum = faults.reduce((total, [, count]) => total + count, 0);
  return [
    `${tally.runs} seeds in ${(tookMs / 1000).toFixed(1)} s: ` +
    `${hours} virtual hours, ${tally.steps} steps, ${tally.orders} orders, ` +
    `${tally.events} events`,
    `Slowest agreement after healing: ` +
    `${Math.round(tally.slowestAgreementMs / 60_000)} virtual minutes`,
    `${sum} faults: ${listed(faults)}`,
    `Done meanwhile: ${listed(sorted(tally.chores)) || "nothing"}`,
    tally.broken.length === 0
      ? "Every rule held"
      : `${tally.broken.length} seeds broke a rule: ${
        tally.broken.map(({ seed, rule }) => `${seed} (${rule})`).join(", ")
      }`,
  ];
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([a], [b]) => a < b ? -1 : 1);
}

function listed(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => `${name} ${count}`).join(", ");
}

/** What to say of a run that broke a rule: what, where, and how to repeat it. */
export function failureText({ seed, steps, broken }: SimReport): string {
  return `Seed ${seed} broke after ${steps} steps: ${broken?.detail}\n` +
    `Again: deno task sim --seed ${seed}`;
}
