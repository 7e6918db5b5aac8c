import type { SimReport } from "./simulate.ts";

/** Which seeds to run. */
export interface ManySeeds {
  /** In this order. */
  readonly seeds: Iterable<number>;
  /**
   * Threads.
   *
   * @default one for each processor
   */
  readonly threads?: number;
}

/** Seeds one after the other. */
export function* seedsFrom(first: number, runs: number): Generator<number> {
  for (let seed = first; seed < first + runs; seed++) yield seed;
}

/**
 * Runs seeds side by side in threads, and gives the reports in the order of
 * the seeds. When the caller stops reading, the threads end once the seeds that
 * they run are done: a run that is cut leaves its files behind.
 *
 * @throws {Error} When a thread dies.
 */
export async function* simulateMany(
  { seeds, threads = navigator.hardwareConcurrency }: ManySeeds,
): AsyncGenerator<SimReport> {
  const started: { readonly worker: Worker; busy: Promise<void> }[] = [];
  try {
    const reports: Promise<SimReport>[] = [];
    for (const seed of seeds) {
      while (reports.length >= threads * 4) yield await take(reports);
      if (started.length < threads) {
        started.push({ worker: newWorker(), busy: nothing });
      }
      // Each thread takes the next seed once its last one is reported.
      const next = started.find(({ busy }) => busy === nothing) ??
        await Promise.race(started.map((one) => one.busy.then(() => one)));
      const report = run(next.worker, seed);
      // A failure is told in its turn, by its report.
      next.busy = report.then(() => {}, () => {});
      reports.push(report);
    }
    while (reports.length > 0) yield await take(reports);
  } finally {
    await Promise.all(started.map(({ busy }) => busy));
    for (const { worker } of started) worker.terminate();
  }
}

function newWorker(): Worker {
  return new Worker(new URL("./seed_worker.ts", import.meta.url), {
    type: "module",
  });
}

const nothing: Promise<void> = Promise.resolve();

function take(reports: Promise<SimReport>[]): Promise<SimReport> {
  return reports.shift() as Promise<SimReport>;
}

function run(worker: Worker, seed: number): Promise<SimReport> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(`Cannot run seed ${seed}: ${event.message}`));
    };
    worker.postMessage(seed);
  });
}
