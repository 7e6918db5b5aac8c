import { type Asset, findAsset, networksOf } from "../assets/assets.ts";
import type { AssetTable } from "../assets/environment.ts";
import { compareDecimals, countDecimals, isDecimal } from "../decimal.ts";
import type { BrokenRule } from "./broken_rule.ts";
import {
  defaultCommodity,
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
  minimumAmount,
} from "./fiat_amount.ts";
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

/** How a field of a session breaks its rule. */
export type SessionRuleCode =
  | "unknown_flow"
  | "not_text"
  | "missing_network"
  | "unlisted_commodity"
  | "unlisted_network"
  | "no_smart_contracts"
  | "wrong_address"
  | "not_decimal"
  | "not_positive"
  | "missing_currency"
  | "unknown_currency"
  | "currency_not_in_sandbox"
  | "too_many_decimals"
  | "below_minimum"
  | "missing_in_restricted_flow";

/** A broken rule of a session. */
export type BrokenSessionRule = BrokenRule<SessionField, SessionRuleCode>;

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

type Fields = Readonly<Record<string, unknown>>;
type Add = (field: SessionField, code: SessionRuleCode) => void;

/**
 * Checks a session against the rules of the service.
 *
 * Without a commodity the session is for BTC where the table lists it, so the
 * minimum of BTC counts.
 *
 * Source: service interface, "POST /api/external/hpp/create-session".
 *
 * @param fields The request, its amounts as decimal texts or whole numbers.
 * @param input What the rules depend on.
 * @returns The broken rules, and the values that were read.
 */
export function checkSession(
  fields: Fields,
  input: SessionRulesInput,
): SessionVerdict {
  const broken: BrokenSessionRule[] = [];
  const add: Add = (field, code) => broken.push({ field, code });
  const flow = fields.flow_type;
  if (flow !== "simple" && flow !== "simple_full_restrict") {
    add("flow_type", "unknown_flow");
  }
  textOf(fields, "user_id", add);
  const asset = checkAsset(fields, input, add);
  checkWallet(fields, asset, add);
  const commodityAmount = checkAmount(fields, "commodity_amount", add);
  const currencyAmount = checkFiatAmount(fields, add);
  checkCurrency(fields, input.assets, add);
  checkMinimum(fields, currencyAmount, input.assets, add);
  if (flow === "simple_full_restrict" && !input.amountsOptional) {
    checkRestricted(fields, add);
  }
  return { broken, asset, commodityAmount, currencyAmount };
}

function textOf(
  fields: Fields,
  field: "user_id" | "commodity" | "network" | "wallet_address",
  add: Add,
): string | null {
  const value = fields[field];
  if (value === undefined) return null;
  if (typeof value === "string" && value.trim() !== "") return value;
  add(field, "not_text");
  return null;
}

function checkAsset(
  fields: Fields,
  input: SessionRulesInput,
  add: Add,
): Asset | null {
  const commodity = textOf(fields, "commodity", add);
  const network = textOf(fields, "network", add);
  if (commodity !== null && fields.network === undefined) {
    add("network", "missing_network");
    return null;
  }
  const isUnread = (commodity === null && fields.commodity !== undefined) ||
    (network === null && fields.network !== undefined);
  if (isUnread) return null;
  const code = commodity ?? "BTC";
  const asset = findAsset(input.assets, code, network ?? "bitcoin");
  if (asset !== null) {
    if (input.needsSmartContracts && asset.smartContracts === false) {
      add("commodity", "no_smart_contracts");
    }
    return asset;
  }
  const isNamed = commodity !== null || network !== null;
  if (!isNamed || input.allowsUnlistedAssets) return null;
  if (networksOf(input.assets, code).length === 0) {
    add("commodity", "unlisted_commodity");
  } else {
    add("network", "unlisted_network");
  }
  return null;
}

function checkWallet(fields: Fields, asset: Asset | null, add: Add): void {
  const address = textOf(fields, "wallet_address", add);
  const network = asset?.network ?? fields.network;
  if (address === null || typeof network !== "string") return;
  if (isWalletAddress(network, address) === false) {
    add("wallet_address", "wrong_address");
  }
}

function checkAmount(
  fields: Fields,
  field: "commodity_amount" | "currency_amount",
  add: Add,
): string | null {
  const value = fields[field];
  if (value === undefined) return null;
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !isDecimal(text) || text.length > 100) {
    add(field, "not_decimal");
    return null;
  }
  if (compareDecimals(text, "0") > 0) return text;
  add(field, "not_positive");
  return null;
}

function checkFiatAmount(fields: Fields, add: Add): string | null {
  const amount = checkAmount(fields, "currency_amount", add);
  if (amount === null || countDecimals(amount) <= FIAT_DECIMALS) return amount;
  add("currency_amount", "too_many_decimals");
  return null;
}

function checkCurrency(fields: Fields, table: AssetTable, add: Add): void {
  const { currency } = fields;
  if (currency === undefined) {
    if (fields.currency_amount !== undefined) {
      add("currency", "missing_currency");
    }
  } else if (!FIAT_CURRENCIES.includes(String(currency))) {
    add("currency", "unknown_currency");
  } else if (currency === "EUR" && table === "sandbox") {
    add("currency", "currency_not_in_sandbox");
  }
}

function checkMinimum(
  fields: Fields,
  amount: string | null,
  table: AssetTable,
  add: Add,
): void {
  if (amount === null) return;
  const commodity = String(fields.commodity ?? defaultCommodity(table));
  const minimum = minimumAmount(commodity, fields.currency);
  if (minimum !== null && compareDecimals(amount, minimum) < 0) {
    add("currency_amount", "below_minimum");
  }
}

function checkRestricted(fields: Fields, add: Add): void {
  if (fields.wallet_address === undefined) {
    add("wallet_address", "missing_in_restricted_flow");
  }
  const { commodity_amount, currency_amount } = fields;
  if (commodity_amount === undefined && currency_amount === undefined) {
    add("currency_amount", "missing_in_restricted_flow");
  }
}
