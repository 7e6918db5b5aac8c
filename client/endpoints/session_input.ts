import { type Asset, assets, networksOf } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { countDecimals } from "../../core/decimal.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";
import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../../core/rules/fiat_amount.ts";
import {
  checkSession,
  SESSION_FIELDS,
  type SessionRuleCode,
} from "../../core/rules/session_rules.ts";
import type { Fault } from "../errors/validation_error.ts";
import { describe, Faults, fieldsOf } from "./_faults.ts";

/**
 * What to ask for with a session. Field names are the service's own.
 *
 * Amounts are decimal strings; whole numbers may be JavaScript numbers.
 *
 * Source: service interface, "POST /api/external/hpp/create-session".
 */
export interface SessionInput {
  /**
   * `simple` lets the user choose; `simple_full_restrict` locks everything.
   *
   * @default {"simple"}
   */
  readonly flow_type?: FlowType;
  /** User the session is for. */
  readonly user_id?: string;
  /**
   * Asset code, in any case; sent as listed. Needs `network`.
   *
   * @default {"BTC"} at the service.
   */
  readonly commodity?: string;
  /** Asset amount; ignored by the service when `currency_amount` is set. */
  readonly commodity_amount?: string | number;
  /**
   * Network of the asset, in any case; sent as listed.
   *
   * @default {"bitcoin"} at the service.
   */
  readonly network?: string;
  /** Address the asset goes to. */
  readonly wallet_address?: string;
  /** Fiat currency; sandbox has no EUR. Required with `currency_amount`. */
  readonly currency?: "USD" | "EUR";
  /** Fiat amount: at least 1 (USD), at least 30 for BTC. */
  readonly currency_amount?: string | number;
}

/** How much of the widget the partner decides. */
export type FlowType = "simple" | "simple_full_restrict";

/** A widget session: valid for 30 seconds, and for one use. */
export interface Session {
  /** Identifier to open the widget with. */
  readonly sessionId: string;
  /** Request identifier; null when the service left it out. */
  readonly requestId: string | null;
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
}

/** What the rules of a session depend on. */
export interface SessionRuleOptions {
  /** Asset table of the environment. */
  readonly assets: AssetTable;
  /**
   * Accepts a pair that is not in the asset table.
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
  /**
   * Fields, or values of fields, that this version does not know; no rule is
   * applied to what they name.
   *
   * @default {{}}
   */
  readonly extra?: Readonly<Record<string, unknown>>;
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

const meant = {
  address: "wallet_address",
  wallet: "wallet_address",
  total_amount: "currency_amount",
  amount: "currency_amount or commodity_amount",
  click_id: "the click_id option of the widget",
  session_id: "nothing: the service makes it",
};

/**
 * Checks a session against every rule of the service, and reports every fault.
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
  faults.unknownFields(fields, SESSION_FIELDS, meant);
  const { assets, allowUnlistedAssets = false, smartContract = false } =
    options;
  const { extra = {} } = options;
  const request = {
    ...fields,
    flow_type: fields.flow_type ?? "simple",
    ...extra,
  };
  const { broken, asset, commodityAmount, currencyAmount } = checkSession(
    request,
    {
      assets,
      allowsUnlistedAssets: allowUnlistedAssets,
      needsSmartContracts: smartContract,
      amountsOptional: smartContract,
    },
  );
  for (const { field, code } of broken) {
    faults.add(field, sentences[code](fields[field], fields, assets));
  }
  return {
    faults: faults.list.filter(({ field }) => !Object.hasOwn(extra, field)),
    warnings: [
      ...defaultWarnings(fields, assets),
      ...warningsOf(commodityAmount, currencyAmount, asset),
    ],
    body: {
      ...request,
      ...spelling(fields, asset),
      ...exact("commodity_amount", commodityAmount),
      ...exact("currency_amount", currencyAmount),
      ...extra,
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

function defaultWarnings(
  { commodity }: Readonly<Record<string, unknown>>,
  table: AssetTable,
): readonly string[] {
  return commodity === undefined && defaultCommodity(table) === ""
    ? [
      `commodity is missing, and the service takes BTC, which ${table} does ` +
      `not list; use one of ${commodities(table)}`,
    ]
    : [];
}

function warningsOf(
  commodityAmount: string | null,
  currencyAmount: string | null,
  asset: Asset | null,
): readonly string[] {
  if (commodityAmount === null) return [];
  if (currencyAmount !== null) {
    return [
      "commodity_amount is ignored by the service because currency_amount is set",
    ];
  }
  if (asset === null || countDecimals(commodityAmount) <= asset.decimals) {
    return [];
  }
  return [
    `commodity_amount has more decimals than ${asset.commodity} has on ` +
    `${asset.network}, which is ${asset.decimals}`,
  ];
}

type Sentence = (
  value: unknown,
  fields: Readonly<Record<string, unknown>>,
  table: AssetTable,
) => string;

const wayOut = "or pass allowUnlistedAssets: true if the list is out of date";

const sentences: Readonly<Record<SessionRuleCode, Sentence>> = {
  unknown_flow: (value) =>
    `is ${describe(value)}; use "simple" or "simple_full_restrict"`,
  not_text: (value) => `is ${describe(value)}; use a text, or leave it out`,
  missing_network: () => "is missing; commodity is set and needs its network",
  unlisted_commodity: (value, _fields, table) =>
    `${describe(value ?? "BTC")}${
      value === undefined ? ", the default," : ""
    } is not listed in ${table}; use one of ${commodities(table)}, ${wayOut}`,
  unlisted_network: (value, { commodity = "BTC" }, table) =>
    `${describe(value ?? "bitcoin")} is not listed for ${commodity} in ` +
    `${table}; use one of ${
      networksOf(table, String(commodity)).join(", ")
    }, ${wayOut}`,
  no_smart_contracts: (value) =>
    `${value ?? "BTC"} is not supported for smart contracts`,
  wrong_address: (value, { network = "bitcoin" }) =>
    `${describe(value)} is not an address of ${network}; check every character`,
  not_decimal: (value) =>
    `is ${describe(value)}; use a decimal string such as "100.5"`,
  not_positive: (value) => `is ${describe(value)}; use an amount above 0`,
  missing_currency: () => "is missing; currency_amount is set and needs it",
  unknown_currency: (value) => `is ${describe(value)}; use "USD" or "EUR"`,
  currency_not_in_sandbox: () =>
    `is "EUR", which sandbox does not have; use "USD"`,
  too_many_decimals: (value) =>
    `is ${describe(value)}; use at most ${FIAT_DECIMALS} decimals`,
  below_minimum: (value, { commodity, currency }, table) => {
    const asset = String(commodity ?? defaultCommodity(table));
    const minimum = minimumAmount(asset, currency);
    const why = minimum === "1"
      ? ""
      : commodity === undefined
      ? " for BTC, which is the default commodity"
      : " for BTC";
    return `is ${describe(String(value))}; the minimum is ${minimum}${why}`;
  },
  missing_in_restricted_flow: () =>
    "is missing; simple_full_restrict needs wallet_address and either " +
    "commodity_amount or currency_amount, unless it is for a smart contract " +
    "(smartContract: true)",
};

function commodities(table: AssetTable): string {
  return [...new Set(assets[table].map((asset) => asset.commodity))].join(", ");
}
