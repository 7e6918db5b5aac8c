import { mkdir, open, unlink } from "node:fs/promises";
import { messageOf } from "../../core/guards.ts";
import type { Spool } from "../../webhooks/spool/spool.ts";
import { RecentOutcome } from "../monitoring/recent_outcome.ts";

/** A disk that has no room for this has none for deliveries, in bytes. */
const PROBE_BYTES = 64 * 1024;

/** A spool that knows whether it takes deliveries. */
export interface WatchedSpool extends Spool {
  /** Why it takes no deliveries; null when it does. */
  problem(): Promise<string | null>;
}

/**
 * Watches a spool.
 *
 * @param directory Its folder; a probe is written there when no delivery was
 * put into the spool lately.
 * @param now Clock, ms since the epoch.
 */
export function watchedSpool(
  spool: Spool,
  directory: string,
  now: () => number,
): WatchedSpool {
  const puts = new RecentOutcome(now);
  return {
    get depth() {
      return spool.depth;
    },
    get bytes() {
      return spool.bytes;
    },
    put: (delivery) => puts.of(spool.put(delivery)),
    drain: (append, options) => spool.drain(append, options),
    close: () => spool.close(),
    problem: async () => {
      const { problem } = puts;
      return problem === undefined ? await writeProblem(directory) : problem;
    },
  };
}

/** Why a folder takes no file; null when it does. */
async function writeProblem(directory: string): Promise<string | null> {
  const path = `${directory}/.probe-${crypto.randomUUID()}`;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      await using file = await open(path, "wx");
      await file.write(new Uint8Array(PROBE_BYTES));
      await file.sync();
    } finally {
      await unlink(path).catch(() => {});
    }
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
