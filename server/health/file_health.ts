import { fileId } from "../../ledger/for_ledger_file.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import type { Config } from "../../settings/config.ts";
import { serving } from "../ledger_file/ledger_lock.ts";

/**
 * Whether a running `serve` has the ledger's own file open.
 *
 * @param isPolled Whether another program is at work on the ledger.
 * @returns Nothing where the ledger is no file of this machine.
 */
export async function lookAtServe(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  isPolled: () => Promise<boolean>,
): Promise<readonly Finding[]> {
  const file = databaseFile(databaseUrl);
  if (file === null) return [];
  const holder = await serving(file);
  if (holder === null) {
    return await isPolled() ? [] : [found("serve_not_running")];
  }
  const more = `process ${holder.pid}`;
  return [
    holder.database === fileId(file)
      ? found("serve_running", { more })
      : found("ledger_replaced", { more }),
  ];
}
