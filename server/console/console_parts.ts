import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { Log } from "../monitoring/logger.ts";
import type { Access } from "./access/access.ts";
import type { Operations } from "../api/operations.ts";
import type { PageContext } from "./context/page_context.ts";

/** What the console is made of. */
export interface ConsoleParts extends
  Pick<
    PageContext,
    "ledger" | "dashboardUrl" | "explorers"
  > {
  /** Checks the health of everything. @default {from what the ledger has} */
  readonly look?: LookAtHealth;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Who may open it. */
  readonly access: Access;
  /** Names under which people open it, besides addresses and localhost. */
  readonly hostNames: readonly string[];
  /** Brings states up to date, or to a bounded age. */
  readonly catchUp: () => Promise<void>;
  /** Called with each error. */
  readonly log: Log;
  /** Does what forms ask for. */
  readonly operations: PageContext["operations"] & Pick<Operations, "operate">;
}
