import { median } from "./rounds.ts";

/** What a machine was when something was measured on it. */
export interface MachineFigures {
  /** Processors. */
  readonly cores: number;
  /** Their clock, GHz; null where the system does not tell. */
  readonly clockGhz: number | null;
  /** Median time to write 4 KiB to a file and sync it, ms. */
  readonly syncMs: number;
}

/** Syncs that are timed: enough for a median, few enough not to be waited for. */
const SYNCS = 40;

/** Looks at the machine, and times its disk. */
export async function machineFigures(): Promise<MachineFigures> {
  return {
    cores: navigator.hardwareConcurrency,
    clockGhz: await clockGhz(),
    syncMs: await syncMs(),
  };
}

/** The figures as the report shows them: `clock 2.6 GHz, sync 0.31 ms`. */
export function machineText({ clockGhz, syncMs }: MachineFigures): string {
  const clock = clockGhz === null ? "unknown" : `${clockGhz.toFixed(2)} GHz`;
  return `clock ${clock}, sync ${syncMs.toFixed(2)} ms`;
}

async function clockGhz(): Promise<number | null> {
  if (Deno.build.os !== "linux") return null;
  // Deno reads nothing below `/proc` itself unless it may do everything.
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", "cat /proc/cpuinfo 2>/dev/null"],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  const clocks = [...text.matchAll(/^cpu MHz\s*:\s*([\d.]+)$/gm)]
    .map(([, mhz]) => Number(mhz));
  return clocks.length === 0 ? null : median(clocks) / 1000;
}

async function syncMs(): Promise<number> {
  const path = await Deno.makeTempFile({ prefix: "rampkit-bench-" });
  try {
    using file = await Deno.open(path, { write: true });
    const page = new Uint8Array(4096).fill(1);
    const times: number[] = [];
    for (let count = 0; count < SYNCS; count++) {
      const start = performance.now();
      await file.write(page);
      await file.syncData();
      times.push(performance.now() - start);
    }
    return median(times);
  } finally {
    await Deno.remove(path);
  }
}
