import type { Config } from "../../core/settings/config.ts";
import { databaseFile } from "../../ledger/for_server.ts";

/**
 * Where deliveries are kept until the ledger has them: the folder that was
 * named, or one beside the ledger's file. Null for any other ledger: it takes
 * deliveries itself, because the disk of a container may be lost with it.
 */
export function spoolDirectory(
  { spoolDir, databaseUrl }: Pick<Config, "spoolDir" | "databaseUrl">,
): string | null {
  if (spoolDir !== null) return spoolDir;
  const file = databaseFile(databaseUrl);
  return file === null ? null : `${file}-spool`;
}
