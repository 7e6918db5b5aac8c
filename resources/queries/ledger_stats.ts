import type { Ledger, Stats } from "../../ledger/mod.ts";
import type { ChainHead } from "../../ledger/for_resources.ts";
import type { ChainBreak, ChainState } from "../../ledger/types.ts";
import { describeChainBreak } from "../wording/damage_reason.ts";

/** Why the chain is not extended, in words and as data. */
export interface ChainBreakJson {
  /** Why the chain is not extended, in one sentence; null when it is. */
  readonly broken: string | null;
  /** The same as a code with its data. */
  readonly reason: ChainBreak | null;
}

/** How far the evidence chain reaches: what to keep elsewhere. */
export type ChainStateJson = ChainHead & ChainBreakJson;

/** How far the evidence chain reaches, with a sentence. */
export function chainStateJson(state: ChainState): ChainStateJson {
  return { ...state, ...breakJson(state.broken) };
}

/** How much the ledger holds, and how far it is folded and chained. */
export interface LedgerStatsJson extends Omit<Stats, "chain"> {
  /** Its environment. */
  readonly environment: string;
  /** Its evidence chain. */
  readonly chain: Omit<Stats["chain"], "broken"> & ChainBreakJson;
}

/** How much the ledger holds, as `ledger stats --json` prints it. */
export async function ledgerStatsJson(
  ledger: Ledger,
): Promise<LedgerStatsJson> {
  const { environment } = ledger;
  const stats = await ledger.stats();
  const { chain } = stats;
  return {
    environment,
    ...stats,
    chain: { ...chain, ...breakJson(chain.broken) },
  };
}

function breakJson(reason: ChainBreak | null): ChainBreakJson {
  const broken = reason === null ? null : describeChainBreak(reason);
  return { broken, reason };
}
