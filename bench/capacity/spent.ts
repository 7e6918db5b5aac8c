import { readFileSync } from "node:fs";

/** Ticks of the processor's time in `/proc`, ms. */
const TICK_MS = 10;

/** What was measured, and what it came to with its units. */
export type Figure = readonly [what: string, figure: string];

/** What some work took. */
export interface Spent<Result> {
  readonly result: Result;
  /** From its beginning to its end, ms. */
  readonly ms: number;
  /**
   * Time of the processor, of all threads of the process, ms: what it takes
   * where nobody else works, if the disk keeps nobody waiting.
   */
  readonly processorMs: number;
}

/**
 * Does some work, and says what it took.
 *
 * @param pid The process that works. @default {this one}
 */
export async function spent<Result>(
  work: () => Promise<Result>,
  pid: number | "self" = "self",
): Promise<Spent<Result>> {
  const processor = processorMs(pid);
  const start = performance.now();
  const result = await work();
  return {
    result,
    ms: performance.now() - start,
    processorMs: processorMs(pid) - processor,
  };
}

/** Both times as text. */
export function spentText(
  { ms, processorMs }: Omit<Spent<unknown>, "result">,
): string {
  const text = (ms: number) =>
    ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`;
  return `${text(ms)}, of the processor ${text(processorMs)}`;
}

function processorMs(pid: number | "self"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program may hold anything but the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}
