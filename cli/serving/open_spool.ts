import { fileSpool } from "../../webhooks/mod.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import type { Config } from "../program/config.ts";
import { type WatchedSpool, watchedSpool } from "./watched_spool.ts";

/** Opens the spool that the settings name; damage in its files is reported. */
export async function openSpool(
  config: Config,
  { log, metrics, now }: {
    readonly log: Log;
    readonly metrics: ServiceMetrics;
    readonly now: () => number;
  },
): Promise<WatchedSpool> {
  const directory = spoolDirectory(config);
  const spool = await fileSpool({
    directory,
    onDamage: (damage) => {
      metrics.spoolDamage(damage);
      log(damage.torn ? "warn" : "error", "spool_damaged", { ...damage });
    },
  });
  return watchedSpool(spool, directory, now);
}
