import type { OrderExpectedBody } from "../events/event.ts";
import { FieldReader, SHARED, TERMS } from "./_fields.ts";
import { ExpectationError } from "./expectation_error.ts";

/**
 * What an order must match, recorded without a session. Identifiers have at
 * most 256 bytes in UTF-8; amounts are exact decimals in quotes, or whole
 * numbers.
 */
export interface OrderExpectation {
  /** Click id that the widget is opened with; one for each purchase. */
  readonly clickId: string;
  /**
   * Your own reference of the purchase, for example an invoice or a basket. A
   * reference names one purchase: not a user, and not a shop.
   */
  readonly reference?: string;
  /** Fiat currency, for example `USD`. */
  readonly currency?: string;
  /** Fiat amount; needs `currency`. */
  readonly currencyAmount?: string | number;
  /** Asset, for example `ETH`. */
  readonly commodity?: string;
  /** Network of the asset. */
  readonly network?: string;
  /** Amount of the asset; needs `commodity`. */
  readonly commodityAmount?: string | number;
  /** Address that the asset goes to. */
  readonly walletAddress?: string;
  /** User who should pay. */
  readonly userId?: string;
  /** How long it is valid, in milliseconds. @default {seven days} */
  readonly validForMs?: number;
  /**
   * When it was asked for, UTC ISO 8601. State it where that is long before it
   * is recorded, for example when a lost ledger is begun anew.
   *
   * @default {when it is recorded}
   */
  readonly askedAt?: string;
}

/** How each field is read, by the name it is stored under. */
const CHECKS = { ...SHARED, ...TERMS };

/** The stored name of each field: `click_id` of `clickId`. */
const STORED_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(CHECKS).map((name) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    name,
  ]),
);

/**
 * The body of the event of an expectation.
 *
 * @throws {ExpectationError} `invalid`, with every field at fault.
 */
export function expectationBody(
  expectation: OrderExpectation,
  { id, now }: { readonly id: string; readonly now: number },
): OrderExpectedBody {
  const fields = new FieldReader(now);
  const given: Readonly<Record<string, unknown>> = { ...expectation };
  const nameOf = (field: string) =>
    Object.hasOwn(STORED_NAMES, field) ? STORED_NAMES[field] ?? "" : "";
  const stored = fields.read(given, CHECKS, { nameOf });
  for (const field of Object.keys(given)) {
    if (nameOf(field) !== "") continue;
    const known = Object.keys(STORED_NAMES).join(", ");
    fields.issues.push({ field, message: `is unknown; use ${known}` });
  }
  fields.checkWallet(stored, "walletAddress");
  if (given.clickId === undefined) {
    fields.missing(
      "clickId",
      "use the click id that the widget is opened with",
    );
  }
  if (given.currencyAmount !== undefined && given.currency === undefined) {
    fields.missing("currency", "currencyAmount needs it");
  }
  if (given.commodityAmount !== undefined && given.commodity === undefined) {
    fields.missing("commodity", "commodityAmount needs it");
  }
  if (fields.issues.length > 0) {
    throw new ExpectationError(fields.issues);
  }
  const { click_id, ...rest } = stored;
  return { expectation_id: id, click_id: String(click_id), ...rest };
}
