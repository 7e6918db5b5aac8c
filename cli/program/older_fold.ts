import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import { checkpointsOf, selectCheckpoints } from "../../ledger/for_cli.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type Io, note } from "./io.ts";

/**
 * Says on standard error when an older version has folded the ledger: it did
 * not write down all that orders are found by.
 */
export async function noteOlderFold(ledger: Ledger, io: Io): Promise<void> {
  const [rows] = await ledger.driver.batch([selectCheckpoints], "read");
  const { live } = checkpointsOf(rows);
  if (live === null || live.foldVersion >= FOLD_VERSION) return;
  note(
    io,
    "An older version has folded this ledger, so not everything can be found " +
      "yet; fold it again with: rampkit ledger refold",
  );
}
