import type { WidgetDraft } from "./option_rows.ts";

/**
 * The fields of a session that matter to the widget. The client's
 * `SessionInput` is assignable to it.
 */
export interface SessionFields {
  /**
   * `simple`: the user chooses; `simple_full_restrict`: all is locked.
   *
   * @default {"simple"}
   */
  readonly flow_type?: string;
  /** User the session is for. */
  readonly user_id?: string;
  /** Asset. */
  readonly commodity?: string;
  /** Network. */
  readonly network?: string;
  /** Asset amount, a decimal string or a whole number. */
  readonly commodity_amount?: string | number;
  /** Fiat currency. */
  readonly currency?: string;
  /** Fiat amount, a decimal string or a whole number. */
  readonly currency_amount?: string | number;
  /** Wallet address. */
  readonly wallet_address?: string;
}

/** An option that will have no effect. */
export interface IgnoredOption {
  /** The option, for example `commodity` or `extra.wallets`. */
  readonly option: string;
  /**
   * - `session_locked`: the session locks all parameters.
   * - `set_by_session`: the session holds this parameter.
   * - `other_option`: another option wins over it, or it lacks one.
   * - `blocks_purchase`: not ignored; the user will be told that the purchase
   *   cannot be made.
   */
  readonly code:
    | "session_locked"
    | "set_by_session"
    | "other_option"
    | "blocks_purchase";
  /** Why, in words. */
  readonly reason: string;
}

const lockedAway = [
  "address",
  "commodity",
  "network",
  "commodity_amount",
  "currency_amount",
  "commodities",
] as const;

const heldBySession = [
  ["address", "wallet_address"],
  ["commodity", "commodity"],
  ["network", "network"],
  ["commodity_amount", "commodity_amount"],
  ["currency_amount", "currency_amount"],
] as const;

/**
 * Lists the options that the widget would silently ignore, and why.
 *
 * @param options Checked options, with their session or before it.
 * @param session What the session was created with.
 * @returns One entry for each option without effect; empty when all take
 * effect.
 *
 * Source: README of the official SDK, "Options".
 *
 * @example Options against a locked session
 * ```ts
 * import { draftOptions, ignoredOptions } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const draft = draftOptions(
 *   { partner_id: "01ABC", commodity: "TT", network: "amoy", lang: "fr" },
 *   { environment: "sandbox" },
 * );
 * const ignored = ignoredOptions(draft, { flow_type: "simple_full_restrict" });
 * assert.deepEqual(ignored.map(({ option }) => option), [
 *   "commodity",
 *   "network",
 * ]);
 * ```
 */
export function ignoredOptions(
  options: WidgetDraft,
  session: SessionFields,
): IgnoredOption[] {
  const isLocked = session.flow_type === "simple_full_restrict";
  const bySession = isLocked ? locked(options) : held(options, session);
  return [
    ...bySession,
    ...byUser(options, session),
    ...byOthers(
      options,
      bySession.map(({ option }) => option),
    ),
  ];
}

function locked(options: WidgetDraft): IgnoredOption[] {
  const reason = "the session is simple_full_restrict, which locks it";
  const names: string[] = lockedAway.filter((name) => {
    return options[name] !== undefined;
  });
  if (options.extra?.wallets !== undefined) names.push("extra.wallets");
  return names.map((option) => ({ option, code: "session_locked", reason }));
}

function held(options: WidgetDraft, session: SessionFields): IgnoredOption[] {
  const ignored: IgnoredOption[] = [];
  for (const [option, field] of heldBySession) {
    if (options[option] === undefined || session[field] === undefined) continue;
    const reason = `the session was created with ${field}`;
    ignored.push({ option, code: "set_by_session", reason });
  }
  const hasWallets = options.extra?.wallets !== undefined;
  if (hasWallets && session.wallet_address !== undefined) {
    ignored.push({
      option: "extra.wallets",
      code: "set_by_session",
      reason: "the session was created with wallet_address",
    });
  }
  return ignored;
}

function byUser(options: WidgetDraft, session: SessionFields): IgnoredOption[] {
  const ignored: IgnoredOption[] = [];
  if (options.phone !== undefined && session.user_id !== undefined) {
    ignored.push({
      option: "phone",
      code: "set_by_session",
      reason: "the session was created with user_id, whose phone is known",
    });
  }
  const { currency } = session;
  if (
    options.currencies !== undefined && currency !== undefined &&
    session.flow_type === "simple_full_restrict" &&
    !options.currencies.includes(JSON.stringify(currency))
  ) {
    ignored.push({
      option: "currencies",
      code: "blocks_purchase",
      reason: `the session is locked to ${currency}, which is not among them`,
    });
  }
  return ignored;
}

function byOthers(
  options: WidgetDraft,
  ignored: readonly string[],
): IgnoredOption[] {
  const without: [keyof WidgetDraft, boolean, string][] = [
    [
      "commodity_amount",
      options.currency_amount !== undefined &&
      !ignored.includes("commodity_amount"),
      "currency_amount is set and wins",
    ],
    [
      "user_id",
      options.sc_address === undefined,
      "it is for NFT checkout, and there is no sc_address; name the user in " +
      "the session",
    ],
    [
      "is_crypto_hidden",
      options.sc_address === undefined,
      "it is for NFT checkout, and there is no sc_address",
    ],
    [
      "state_of_residence",
      options.country_of_residence !== undefined &&
      options.country_of_residence !== "US",
      "it is for the USA, and country_of_residence is another",
    ],
    [
      "card_state_code",
      options.card_country_code !== undefined &&
      options.card_country_code !== "US",
      "it is for the USA, and card_country_code is another",
    ],
    [
      "is_session_expire_on_email_mismatch",
      options.email === undefined,
      "there is no email to compare with",
    ],
  ];
  return without
    .filter(([option, applies]) => applies && options[option] !== undefined)
    .map(([option, , reason]) => ({ option, code: "other_option", reason }));
}
