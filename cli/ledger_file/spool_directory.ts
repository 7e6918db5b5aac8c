import type { Config } from "../program/config.ts";
import { databaseFile } from "../../ledger/store/driver/database_url.ts";

/**
 * Where deliveries wait while the database cannot take them, unless said:
 * beside the database file, or for one on a server in the working directory.
 */
export function spoolDirectory(
  { spoolDir, databaseUrl }: Pick<Config, "spoolDir" | "databaseUrl">,
): string {
  if (spoolDir !== null) return spoolDir;
  const file = databaseFile(databaseUrl);
  return file === null ? "rampkit-spool" : `${file}-spool`;
}
