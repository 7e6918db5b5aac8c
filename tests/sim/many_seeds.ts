import type { SimReport } from "./simulate.ts";

/** Which seeds to run. */
export interface ManySeeds {
  readonly first: number;
  readonly runs: number;
  /**
   * Threads.
   *
   * @default one for each processor, and no more than there are seeds
   */
  readonly threads?: number;
}

/**
 * Runs seeds side by side in threads, and gives the reports in the order of
 * the seeds. When the caller stops reading, the threads end once the seeds that
 * they run are done: a run that is cut leaves its files behind.
 *
 * @throws {Error} When a thread dies.
 */
export async function* simulateMany(
  { first, runs, threads = navigator.hardwareConcurrency }: ManySeeds,
): AsyncGenerator<SimReport> {
  const workers = Array.from(
    { length: Math.min(threads, runs) },
    () =>
      new Worker(new URL("./seed_worker.ts", import.meta.url), {
        type: "module",
      }),
  );
  // Each thread takes the next seed once its last one is reported.
  const free = workers.map((worker) => ({ worker, busy: nothing }));
  try {
    const reports: Promise<SimReport>[] = [];
    for (let seed = first; seed < first + runs; seed++) {
      while (reports.length >= workers.length * 4) yield await take(reports);
      const next = await Promise.race(
        free.map((one) => one.busy.then(() => one)),
      );
      const report = run(next.worker, seed);
      // A failure is told in its turn, by its report.
      next.busy = report.then(() => {}, () => {});
      reports.push(report);
    }
    while (reports.length > 0) yield await take(reports);
  } finally {
    await Promise.all(free.map(({ busy }) => busy));
    for (const worker of workers) worker.terminate();
  }
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
