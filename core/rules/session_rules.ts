import { type Asset, findAsset, networksOf } from "../assets/assets.ts";
import type { AssetTable } from "../assets/environment.ts";
import { compareDecimals } from "../decimal.ts";
import {
  defaultCommodity,
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
  minimumAmount,
  readAmount,
} from "./session_limits.ts";
import { isWalletAddress } from "./wallet_address.ts";

/** Fields of a session to create. */
export const SESSION_FIELDS = [
  "flow_type",
  "user_id",
  "commodity",
  "commodity_amount",
  "network",
  "wallet_address",
  "currency",
  "currency_amount",
] as const;

/** A field of a session to create. */
export type SessionField = typeof SESSION_FIELDS[number];

/**
 * How a field of a session breaks its rule, and how the service words it; FIELD
 * and other words in capitals stand for what was sent.
 */
export const SESSION_REFUSALS = {
  unknown_flow: "FIELD must be simple or simple_full_restrict",
  not_text: "FIELD must be a string",
  missing_network: "ASSET is not supported",
  unlisted_commodity: "ASSET is not supported",
  unlisted_network: "ASSET is not supported",
  no_smart_contracts: "ASSET is not supported",
  wrong_address: "FIELD is not valid for the commodity",
  not_decimal: "FIELD must be a number",
  not_positive: "FIELD must be greater than 0",
  missing_currency: "currency must be specified with currency_amount",
  unknown_currency: "currency CURRENCY is not supported",
  currency_not_in_sandbox: "currency CURRENCY is not supported",
  too_many_decimals: `FIELD must have at most ${FIAT_DECIMALS} decimals`,
  below_minimum: "FIELD must be at least MINIMUM",
  missing_in_restricted_flow:
    "wallet_address and either commodity_amount or currency_amount must be specified",
} as const;

/** How a field of a session breaks its rule. */
export type SessionRuleCode = keyof typeof SESSION_REFUSALS;

/** A broken rule of a session. The wording is the caller's. */
export interface BrokenSessionRule {
  readonly field: SessionField;
  readonly code: SessionRuleCode;
}

/** What the rules of a session depend on. */
export interface SessionRulesInput {
  /** Asset table of the environment. */
  readonly assets: AssetTable;
  /** Lets a pair through that the table does not list. */
  readonly allowsUnlistedAssets: boolean;
  /** The asset must be one that smart contracts can use. */
  readonly needsSmartContracts: boolean;
  /** The restricted flow may leave out wallet and amount. */
  readonly amountsOptional: boolean;
}

/** What the rules say about a session. */
export interface SessionVerdict {
  /** Every broken rule, in the order in which they are checked. */
  readonly broken: readonly BrokenSessionRule[];
  /** The asset, the default one included; null when the table has none. */
  readonly asset: Asset | null;
  /** The asset amount as a decimal; null when absent or at fault. */
  readonly commodityAmount: string | null;
  /** The fiat amount as a decimal; null when absent or at fault. */
  readonly currencyAmount: string | null;
}

/**
 * Checks a session against the rules of the service. Without a commodity it is
 * for BTC where the table lists it, so the minimum of BTC counts.
 *
 * Source: service interface, "POST /api/external/hpp/create-session".
 */
export function checkSession(
  fields: Readonly<Record<string, unknown>>,
  { assets, ...input }: SessionRulesInput,
): SessionVerdict {
  const broken: BrokenSessionRule[] = [];
  const wrong = (field: SessionField, code: SessionRuleCode): null => {
    broken.push({ field, code });
    return null;
  };
  const textOf = (field: SessionField): string | null | undefined => {
    const value = fields[field];
    if (value === undefined) return undefined;
    return typeof value === "string" && value.trim() !== ""
      ? value
      : wrong(field, "not_text");
  };
  const amountOf = (field: SessionField, decimals?: number): string | null => {
    if (fields[field] === undefined) return null;
    const read = readAmount(fields[field], decimals);
    return "fault" in read ? wrong(field, read.fault) : read.amount;
  };

  const { flow_type: flow, currency } = fields;
  if (flow !== "simple" && flow !== "simple_full_restrict") {
    wrong("flow_type", "unknown_flow");
  }
  textOf("user_id");

  const commodity = textOf("commodity");
  const network = textOf("network");
  let asset: Asset | null = null;
  if (commodity && fields.network === undefined) {
    wrong("network", "missing_network");
  } else if (commodity !== null && network !== null) {
    const code = commodity ?? "BTC";
    asset = findAsset(assets, code, network ?? "bitcoin");
    if (asset !== null) {
      if (input.needsSmartContracts && asset.smartContracts === false) {
        wrong("commodity", "no_smart_contracts");
      }
    } else if ((commodity || network) && !input.allowsUnlistedAssets) {
      if (networksOf(assets, code).length > 0) {
        wrong("network", "unlisted_network");
      } else wrong("commodity", "unlisted_commodity");
    }
  }

  const address = textOf("wallet_address");
  const chain = asset?.network ?? fields.network;
  if (
    address && typeof chain === "string" &&
    isWalletAddress(chain, address) === false
  ) wrong("wallet_address", "wrong_address");

  const commodityAmount = amountOf("commodity_amount");
  const currencyAmount = amountOf("currency_amount", FIAT_DECIMALS);
  if (currency === undefined) {
    if (fields.currency_amount !== undefined) {
      wrong("currency", "missing_currency");
    }
  } else if (!FIAT_CURRENCIES.includes(String(currency))) {
    wrong("currency", "unknown_currency");
  } else if (currency === "EUR" && assets === "sandbox") {
    wrong("currency", "currency_not_in_sandbox");
  }
  const sold = String(fields.commodity ?? defaultCommodity(assets));
  const minimum = minimumAmount(sold, currency);
  if (
    currencyAmount && minimum && compareDecimals(currencyAmount, minimum) < 0
  ) {
    wrong("currency_amount", "below_minimum");
  }

  if (flow === "simple_full_restrict" && !input.amountsOptional) {
    if (fields.wallet_address === undefined) {
      wrong("wallet_address", "missing_in_restricted_flow");
    }
    if (
      fields.commodity_amount === undefined &&
      fields.currency_amount === undefined
    ) wrong("currency_amount", "missing_in_restricted_flow");
  }
  return { broken, asset, commodityAmount, currencyAmount };
}
