import { defined } from "../../core/guards.ts";
import type { TermsToRecord } from "../../ledger/mod.ts";

/** One of the terms that an order is compared with. */
export interface Term {
  /** Its name in the service's own words, as the ledger records it. */
  readonly field: keyof TermsToRecord;
  /** Its flag with its operand. */
  readonly flag: string;
  /** What it is. */
  readonly means: string;
  /** Whether it is an amount. @default {false} */
  readonly isAmount?: true;
}

/**
 * What an order is compared with, by its name in the API: flags of commands,
 * fields of the API and what is recorded are made of these rows.
 */
export const TERMS = {
  currency: {
    field: "currency",
    flag: "currency <code>",
    means: "Fiat currency",
  },
  currencyAmount: {
    field: "currency_amount",
    flag: "currency-amount <decimal>",
    means: "Fiat amount",
    isAmount: true,
  },
  commodity: {
    field: "commodity",
    flag: "commodity <code>",
    means: "Asset, for example USDC",
  },
  network: {
    field: "network",
    flag: "network <name>",
    means: "Network of the asset",
  },
  commodityAmount: {
    field: "commodity_amount",
    flag: "commodity-amount <decimal>",
    means: "Amount of the asset",
    isAmount: true,
  },
  walletAddress: {
    field: "wallet_address",
    flag: "wallet <address>",
    means: "Address that receives the asset",
  },
  userId: { field: "user_id", flag: "user <id>", means: "User who must pay" },
} as const satisfies Readonly<Record<string, Term>>;

/** Name of a term in the API. */
export type TermName = keyof typeof TERMS;

/** The names of the terms, in the order in which they are listed. */
export const TERM_NAMES = Object.keys(TERMS) as readonly TermName[];

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

/** What an order is compared with, in the service's own words. */
export function termsToRecord(given: TermsJson): TermsToRecord {
  return defined(Object.fromEntries(
    TERM_NAMES.map((name) => [TERMS[name].field, given[name]]),
  ));
}
