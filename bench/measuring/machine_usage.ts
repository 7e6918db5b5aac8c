/** How the processors were used while something was measured. */
export interface Usage {
  /** Share of all processor time that the host gave to other machines. */
  readonly steal: number;
  /** Share of all processor time in which nothing ran. */
  readonly idle: number;
  /** Processors that the watched process used: 1.5 is one and a half. */
  readonly processors: number;
  /** The thread of that process that ran most, as a share of one processor. */
  readonly busiest: { readonly name: string; readonly share: number };
}

/** The counters of the kernel at one moment, in ticks. */
export interface Counters {
  /** All processor time. */
  readonly total: number;
  /** Time in which nothing ran, waiting for the disk included. */
  readonly idle: number;
  /** Time given to other machines. */
  readonly steal: number;
  /** How many processors there are. */
  readonly processors: number;
  /** Ticks of each thread of the watched process, by its number and name. */
  readonly threads: ReadonlyMap<string, number>;
}

/**
 * Reads `/proc/stat`, followed by the `stat` of each thread of a process.
 *
 * @throws {SyntaxError} When the text does not begin with the line of all
 * processors.
 */
export function readCounters(text: string): Counters {
  const lines = text.split("\n");
  const all = /^cpu +([\d ]+)$/.exec(lines[0] ?? "")?.[1]?.split(" ")
    .map(Number);
  if (all === undefined) throw new SyntaxError("Cannot read /proc/stat");
  // The ninth and tenth repeat time that the first two hold already.
  const [, , , idle = 0, wait = 0, , , steal = 0] = all;
  const threads = new Map<string, number>();
  for (const line of lines) {
    const match = /^(\d+) \((.*)\) (.*)$/.exec(line);
    if (match === null) continue;
    const [, id, name, rest = ""] = match;
    const fields = rest.split(" ");
    threads.set(`${id} ${name}`, Number(fields[11]) + Number(fields[12]));
  }
  return {
    total: all.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0),
    idle: idle + wait,
    steal,
    processors: lines.filter((line) => /^cpu\d/.test(line)).length,
    threads,
  };
}

/** What was used between two moments. */
export function usageBetween(before: Counters, after: Counters): Usage {
  const total = Math.max(1, after.total - before.total);
  const oneProcessor = total / Math.max(1, after.processors);
  let all = 0;
  let busiest = { name: "none", share: 0 };
  for (const [thread, ticks] of after.threads) {
    const share = (ticks - (before.threads.get(thread) ?? 0)) / oneProcessor;
    all += share;
    if (share > busiest.share) {
      busiest = { name: thread.slice(thread.indexOf(" ") + 1), share };
    }
  }
  return {
    steal: (after.steal - before.steal) / total,
    idle: (after.idle - before.idle) / total,
    processors: all,
    busiest,
  };
}

/**
 * Which resource held a measurement back, with the figures that say so.
 *
 * @param usages One for each round.
 * @param awaited What is waited for while neither a thread nor the processors
 * are busy.
 */
export function limitOf(usages: readonly Usage[], awaited: string): string {
  const mean = (of: (usage: Usage) => number): number =>
    usages.reduce((sum, usage) => sum + of(usage), 0) / usages.length;
  if (usages.length === 0) return "not known: this system has no /proc";
  const idle = mean((usage) => usage.idle);
  const busiest = mean(({ busiest }) => busiest.share);
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  const figures = `busiest thread ${percent(busiest)}, process ${
    percent(mean(({ processors }) => processors))
  } of one processor, machine ${percent(idle)} idle`;
  if (busiest >= 0.85) return `one thread (${figures})`;
  return idle <= 0.1
    ? `all processors (${figures})`
    : `${awaited} (${figures})`;
}
