import type { FlowType, SessionInput } from "../../client/mod.ts";
import { defined } from "../../core/guards.ts";
import type { TermsToRecord } from "../../ledger/mod.ts";

/** What an order is compared with, as the API writes it. */
export interface TermsJson {
  readonly currency?: string;
  readonly currencyAmount?: string | number;
  readonly commodity?: string;
  readonly network?: string;
  readonly commodityAmount?: string | number;
  readonly walletAddress?: string;
  readonly userId?: string;
}

/** A session to create and record, as the API writes it. */
export interface SessionRequestJson extends TermsJson {
  readonly flowType?: FlowType;
  /** `simple_full_restrict` then needs no wallet and no amount. */
  readonly smartContract?: boolean;
  readonly clickId?: string;
  readonly reference?: string;
  /** What counts in place of the session's own fields. */
  readonly expected?: TermsJson;
  readonly validForMs?: number;
}

/** The request as the service takes it. */
export function sessionInput(request: SessionRequestJson): SessionInput {
  return defined({
    flow_type: request.flowType,
    ...terms(request),
  }) as SessionInput;
}

/** What an order is compared with, in the service's own words. */
export function terms(given: TermsJson): TermsToRecord {
  return defined({
    currency: given.currency,
    currency_amount: given.currencyAmount,
    commodity: given.commodity,
    network: given.network,
    commodity_amount: given.commodityAmount,
    wallet_address: given.walletAddress,
    user_id: given.userId,
  });
}
