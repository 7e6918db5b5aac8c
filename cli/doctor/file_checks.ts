import { databaseFile } from "../../ledger/for_server.ts";
import { fileId } from "../../ledger/for_ledger_file.ts";
import type { Config } from "../../settings/config.ts";
import { serving } from "../../server/ledger_file/ledger_lock.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** Checks whether a running `serve` has the ledger's own file open. */
export async function fileChecks(
  { databaseUrl }: Config,
): Promise<Check[]> {
  const name = "File";
  const file = databaseFile(databaseUrl);
  if (file === null) return [];
  const holder = await serving(file);
  if (holder === null) {
    return [check(name, "ok", "No serve has it open on this machine")];
  }
  const who = `serve (process ${holder.pid})`;
  return [
    holder.database === fileId(file)
      ? check(name, "ok", `${who} has it open`)
      : check(
        name,
        "fail",
        `${who} works on another file: ${file} was removed or replaced; ` +
          "deliveries wait in the spool",
        "Stop serve, put the ledger in its place with rampkit ledger " +
          "restore, then start serve again",
      ),
  ];
}
