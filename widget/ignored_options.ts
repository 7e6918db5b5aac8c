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

/** What a restricted session locks, and the session's field that holds it. */
const HELD: readonly (readonly [string, keyof SessionFields | null])[] = [
  ["address", "wallet_address"],
  ["commodity", "commodity"],
  ["network", "network"],
  ["commodity_amount", "commodity_amount"],
  ["currency_amount", "currency_amount"],
  ["commodities", null],
  ["extra.wallets", "wallet_address"],
];

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
  const { currency, user_id } = session;
  const isLocked = session.flow_type === "simple_full_restrict";
  const isSet = (option: string) =>
    Reflect.get(
      { ...options, "extra.wallets": options.extra?.wallets },
      option,
    ) !==
      undefined;
  const held = HELD.flatMap(([option, field]): IgnoredOption[] => {
    if (!isSet(option)) return [];
    if (isLocked) {
      const reason = "the session is simple_full_restrict, which locks it";
      return [{ option, code: "session_locked", reason }];
    }
    if (field === null || session[field] === undefined) return [];
    const reason = `the session was created with ${field}`;
    return [{ option, code: "set_by_session", reason }];
  });
  const found = [...held];
  const add = (
    option: string,
    applies: boolean,
    reason: string,
    code: IgnoredOption["code"] = "other_option",
  ): void => {
    if (applies && isSet(option)) found.push({ option, code, reason });
  };
  add(
    "phone",
    user_id !== undefined,
    "the session was created with user_id, whose phone is known",
    "set_by_session",
  );
  add(
    "currencies",
    isLocked && currency !== undefined &&
      options.currencies?.includes(JSON.stringify(currency)) === false,
    `the session is locked to ${currency}, which is not among them`,
    "blocks_purchase",
  );
  const isHeld = held.some(({ option }) => option === "commodity_amount");
  const wins = options.currency_amount !== undefined && !isHeld;
  add("commodity_amount", wins, "currency_amount is set and wins");
  const forItems = "it is for NFT checkout, and there is no sc_address";
  const isItem = options.sc_address !== undefined;
  add("user_id", !isItem, `${forItems}; name the user in the session`);
  add("is_crypto_hidden", !isItem, forItems);
  const states = [
    ["state_of_residence", "country_of_residence"],
    ["card_state_code", "card_country_code"],
  ] as const;
  for (const [state, country] of states) {
    const isAbroad = (options[country] ?? "US") !== "US";
    add(state, isAbroad, `it is for the USA, and ${country} is another`);
  }
  add(
    "is_session_expire_on_email_mismatch",
    options.email === undefined,
    "there is no email to compare with",
  );
  return found;
}
