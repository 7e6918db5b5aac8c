import { type Asset, assets, findAsset, networksOf } from "./assets.ts";
import { compareDecimals, countDecimals, isDecimal } from "./decimal.ts";
import type { AssetTable } from "./environment.ts";
import type { Fault } from "./errors/validation_error.ts";
import { ExactNumber } from "./exact_json.ts";
import { describe, Faults, fieldsOf } from "./_faults.ts";
import type { SessionInput } from "./session.ts";
import { isWalletAddress } from "./wallet_address.ts";

/** What the rules of a session depend on. */
export interface SessionRuleOptions {
  /** Asset table of the environment. */
  readonly assets: AssetTable;
  /**
   * Lets a pair through that the table does not list.
   *
   * @default {false}
   */
  readonly allowUnlistedAssets?: boolean;
  /**
   * The session is for a smart-contract purchase: `simple_full_restrict` then
   * needs neither wallet nor amount.
   *
   * @default {false}
   */
  readonly smartContract?: boolean;
}

/** What the rules say about a session, and what would be sent. */
export interface CheckedSession {
  /** Every broken rule; empty when the session can be sent. */
  readonly faults: readonly Fault[];
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
  /** The body to send; only meaningful without faults. */
  readonly body: Readonly<Record<string, unknown>>;
}

const known = [
  "flow_type",
  "user_id",
  "commodity",
  "commodity_amount",
  "network",
  "wallet_address",
  "currency",
  "currency_amount",
];

const meant = {
  address: "wallet_address",
  wallet: "wallet_address",
  total_amount: "currency_amount",
  amount: "currency_amount or commodity_amount",
  click_id: "the click_id option of the widget",
  session_id: "nothing: the service makes it",
};

/**
 * Checks a session against every rule of the service, and says all faults.
 *
 * Defaults count: without a commodity the session is for BTC where the
 * environment lists it, so its minimum is 30.
 *
 * @param input What to ask for.
 * @param options What the rules depend on.
 * @returns Faults, warnings, and the body to send.
 * @throws {TypeError} When `input` is not an object.
 *
 * @example Check before a user clicks
 * ```ts
 * import { checkSessionInput } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkSessionInput(
 *   { flow_type: "simple", currency: "USD", currency_amount: "20" },
 *   { assets: "production" },
 * );
 * assert.equal(faults[0]?.field, "currency_amount");
 * ```
 */
export function checkSessionInput(
  input: SessionInput,
  options: SessionRuleOptions,
): CheckedSession {
  const fields = fieldsOf(input);
  const faults = new Faults();
  const warnings: string[] = [];
  faults.unknownFields(fields, known, meant);
  const flow = fields.flow_type ?? "simple";
  if (flow !== "simple" && flow !== "simple_full_restrict") {
    faults.add(
      "flow_type",
      `is ${describe(flow)}; use "simple" or "simple_full_restrict"`,
    );
  }
  checkText(fields, "user_id", faults);
  const asset = checkAsset(fields, options, faults);
  checkWallet(fields, asset, faults);
  const commodityAmount = checkAmount(fields, "commodity_amount", faults);
  const currencyAmount = checkAmount(fields, "currency_amount", faults);
  checkCurrency(fields, options.assets, faults);
  checkMinimum(fields, currencyAmount, options.assets, faults);
  if (flow === "simple_full_restrict" && options.smartContract !== true) {
    checkRestricted(fields, faults);
  }
  if (commodityAmount !== null && currencyAmount !== null) {
    warnings.push(
      "commodity_amount is ignored by the service because currency_amount is set",
    );
  } else if (
    commodityAmount !== null && asset !== null &&
    countDecimals(commodityAmount) > asset.decimals
  ) {
    warnings.push(
      `commodity_amount has more decimals than ${asset.commodity} has on ` +
        `${asset.network}, which is ${asset.decimals}`,
    );
  }
  return {
    faults: faults.list,
    warnings,
    body: {
      ...fields,
      flow_type: flow,
      ...spelling(fields, asset),
      ...exact("commodity_amount", commodityAmount),
      ...exact("currency_amount", currencyAmount),
    },
  };
}

function exact(field: string, amount: string | null): object {
  return amount === null ? {} : { [field]: new ExactNumber(amount) };
}

/** The service's own spelling of the pair, for the fields that were given. */
function spelling(fields: Record<string, unknown>, asset: Asset | null) {
  if (asset === null) return {};
  const { commodity, network } = asset;
  return {
    ...(fields.commodity === undefined ? {} : { commodity }),
    ...(fields.network === undefined ? {} : { network }),
  };
}

function checkText(
  fields: Record<string, unknown>,
  field: string,
  faults: Faults,
): string | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "") return value;
  faults.add(field, `is ${describe(value)}; use a text, or leave it out`);
  return undefined;
}

function checkAsset(
  fields: Record<string, unknown>,
  options: SessionRuleOptions,
  faults: Faults,
): Asset | null {
  const found = faults.list.length;
  const commodity = checkText(fields, "commodity", faults);
  const network = checkText(fields, "network", faults);
  if (commodity !== undefined && fields.network === undefined) {
    faults.add("network", "is missing; commodity is set and needs its network");
  }
  if (faults.list.length > found) return null;
  const table = options.assets;
  const code = commodity ?? "BTC";
  const asset = findAsset(table, code, network ?? "bitcoin");
  if (asset !== null) {
    if (options.smartContract === true && asset.smartContracts === false) {
      faults.add(
        "commodity",
        `${asset.commodity} is not supported for smart contracts`,
      );
    }
    return asset;
  }
  const named = commodity !== undefined || network !== undefined;
  if (named && options.allowUnlistedAssets !== true) {
    const networks = networksOf(table, code);
    const wayOut = "or pass allowUnlistedAssets: true if the list is out of " +
      "date";
    if (networks.length === 0) {
      faults.add(
        "commodity",
        `${describe(code)}${
          commodity === undefined ? ", the default," : ""
        } is not listed in ${table}; use one of ${
          commodities(table)
        }, ${wayOut}`,
      );
    } else {
      faults.add(
        "network",
        `${describe(network ?? "bitcoin")} is not listed for ${code} in ` +
          `${table}; use one of ${networks.join(", ")}, ${wayOut}`,
      );
    }
  }
  return null;
}

function commodities(table: AssetTable): string {
  return [...new Set(assets[table].map((asset) => asset.commodity))].join(", ");
}

function checkWallet(
  fields: Record<string, unknown>,
  asset: Asset | null,
  faults: Faults,
): void {
  const address = checkText(fields, "wallet_address", faults);
  const network = asset?.network ?? fields.network;
  if (address === undefined || typeof network !== "string") return;
  if (isWalletAddress(network, address) === false) {
    faults.add(
      "wallet_address",
      `${describe(address)} is no address of ${network}; check every character`,
    );
  }
}

/** The amount as a plain decimal; null when it is absent or at fault. */
function checkAmount(
  fields: Record<string, unknown>,
  field: string,
  faults: Faults,
): string | null {
  const value = fields[field];
  if (value === undefined) return null;
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !isDecimal(text) || text.length > 100) {
    faults.add(
      field,
      `is ${describe(value)}; use a decimal string such as "100.5"`,
    );
    return null;
  }
  if (compareDecimals(text, "0") > 0) return text;
  faults.add(field, `is ${describe(value)}; use an amount above 0`);
  return null;
}

function checkCurrency(
  fields: Record<string, unknown>,
  table: AssetTable,
  faults: Faults,
): void {
  const { currency } = fields;
  if (currency === undefined) {
    if (fields.currency_amount === undefined) return;
    faults.add("currency", "is missing; currency_amount is set and needs it");
  } else if (currency !== "USD" && currency !== "EUR") {
    faults.add("currency", `is ${describe(currency)}; use "USD" or "EUR"`);
  } else if (currency === "EUR" && table === "sandbox") {
    faults.add("currency", `is "EUR", which sandbox does not have; use "USD"`);
  }
}

function checkMinimum(
  fields: Record<string, unknown>,
  amount: string | null,
  table: AssetTable,
  faults: Faults,
): void {
  if (amount === null) return;
  const usual = findAsset(table, "BTC", "bitcoin") === null ? "" : "BTC";
  const commodity = String(fields.commodity ?? usual).toUpperCase();
  const minimum = commodity === "BTC" ? "30" : "1";
  // The minimum of 1 is stated for USD alone.
  if (minimum === "1" && fields.currency === "EUR") return;
  if (compareDecimals(amount, minimum) >= 0) return;
  const why = minimum === "1"
    ? ""
    : fields.commodity === undefined
    ? " for BTC, which is the default commodity"
    : " for BTC";
  faults.add(
    "currency_amount",
    `is ${describe(amount)}; the minimum is ${minimum}${why}`,
  );
}

function checkRestricted(
  fields: Record<string, unknown>,
  faults: Faults,
): void {
  const rule = "is missing; simple_full_restrict needs wallet_address and " +
    "either commodity_amount or currency_amount, unless it is for a smart " +
    "contract (smartContract: true)";
  if (fields.wallet_address === undefined) faults.add("wallet_address", rule);
  if (
    fields.commodity_amount === undefined &&
    fields.currency_amount === undefined
  ) {
    faults.add("currency_amount", rule);
  }
}
