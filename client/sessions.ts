import * as z from "zod/mini";
import { type Asset, assets, networksOf } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { countDecimals } from "../core/decimal.ts";
import { ExactNumber } from "../core/json/json.ts";
import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../core/rules/session_limits.ts";
import {
  checkSession,
  SESSION_FIELDS,
  type SessionRuleCode,
} from "../core/rules/session_rules.ts";
import { type Api, promised } from "./transport.ts";
import type { SessionOptions } from "./call_options.ts";
import type { Fault } from "./errors.ts";
import {
  describe,
  fieldsOf,
  refuseFaults,
  unknownFields,
  without,
} from "./faults.ts";

/** Widget sessions. */
export interface SessionsApi {
  /**
   * Creates a session. Open the widget with it within 30 seconds, once; ask
   * when the user clicks.
   *
   * @throws {ValidationError} When the input breaks a rule; lists every fault.
   * @throws {OnrampError} When the call fails.
   */
  create(input: SessionInput, options?: SessionOptions): Promise<Session>;
}

const sessionSchema = z.looseObject({
  sessionId: z.string().check(z.minLength(1)),
  requestId: z.optional(z.nullable(z.string())),
});

/** Makes the sessions part of a client. */
export function sessionsApi(api: Api): SessionsApi {
  return {
    async create(input, { signal, ...options } = {}) {
      const action = "Cannot create a session";
      const { faults, warnings, body } = checkSessionInput(input, {
        assets: api.environment.assets,
        ...options,
        allowUnlistedAssets: options.allowUnlistedAssets ??
          api.allowUnlistedAssets,
      });
      refuseFaults(action, faults);
      const answer = await api.ask({
        operation: "sessions.create",
        action,
        url: `${api.environment.baseUrl}/api/external/hpp/create-session`,
        body: JSON.stringify(body),
        signal,
      });
      const { sessionId, requestId = null } = promised(
        sessionSchema,
        answer,
        action,
      );
      return { sessionId, requestId, warnings };
    },
  };
}

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
  { assets, allowUnlistedAssets = false, smartContract = false, extra = {} }:
    SessionRuleOptions,
): CheckedSession {
  const fields = fieldsOf(input);
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
  const exact = (field: string, amount: string | null) =>
    amount === null ? {} : { [field]: new ExactNumber(amount) };
  return {
    faults: without(extra, [
      ...unknownFields(fields, SESSION_FIELDS, meant),
      ...broken.map(({ field, code }) => ({
        field,
        rule: sentences[code](fields[field], fields, assets),
      })),
    ]),
    warnings: [
      ...(fields.commodity === undefined && defaultCommodity(assets) === ""
        ? [
          `commodity is missing, and the service takes BTC, which ${assets} ` +
          `does not list; use one of ${commodities(assets)}`,
        ]
        : []),
      ...warningsOf(commodityAmount, currencyAmount, asset),
    ],
    body: {
      ...request,
      // The service's own spelling of the pair, where it was given.
      ...(asset && "commodity" in fields && { commodity: asset.commodity }),
      ...(asset && "network" in fields && { network: asset.network }),
      ...exact("commodity_amount", commodityAmount),
      ...exact("currency_amount", currencyAmount),
      ...extra,
    },
  };
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
