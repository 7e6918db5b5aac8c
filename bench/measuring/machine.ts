import { readCounters, type Usage, usageBetween } from "./machine_usage.ts";

/** A result, and how the machine was used meanwhile. */
export interface Watched<Result> {
  /** What the work came to. */
  readonly result: Result;
  /** Use of the processors; null where the system does not tell. */
  readonly usage: Usage | null;
}

/**
 * Does some work and watches how the machine and one process use the
 * processors meanwhile.
 *
 * @param work What to do.
 * @param pid The process; this one unless it says otherwise.
 */
export async function watched<Result>(
  work: () => Promise<Result>,
  pid: number = Deno.pid,
): Promise<Watched<Result>> {
  const before = await counters(pid);
  const result = await work();
  const after = before === null ? null : await counters(pid);
  return {
    result,
    usage: before === null || after === null
      ? null
      : usageBetween(readCounters(before), readCounters(after)),
  };
}

/** Deno reads nothing below `/proc` itself unless it may do everything. */
async function counters(pid: number): Promise<string | null> {
  if (Deno.build.os !== "linux") return null;
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `cat /proc/stat /proc/${pid}/task/*/stat 2>/dev/null`],
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
