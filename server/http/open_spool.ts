import { fileSpool, type Spool } from "../../webhooks/mod.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import type { Config } from "../../core/settings/config.ts";

/** Opens the spool that the settings name, and reports damage in its files. */
export async function openSpool(
  config: Config,
  { log, metrics }: { readonly log: Log; readonly metrics: ServiceMetrics },
): Promise<Spool | undefined> {
  const directory = spoolDirectory(config);
  if (directory === null) return undefined;
  return await fileSpool({
    directory,
    onDamage: (damage) => {
      metrics.spoolDamage();
      log("error", "spool_damaged", { ...damage });
    },
  });
}
