import type { OrderExpectedBody } from "../events/event.ts";
import { FieldReader, SHARED, TERMS } from "./_fields.ts";
import { ExpectationError } from "./expectation_error.ts";

/**
 * What you expect of an order, to be recorded without a session. Identifiers
 * have at most 256 characters; amounts are exact decimals in quotes, or whole
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
  /** User who is to pay. */
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

/** The stored name of each field. */
const NAMES = {
  clickId: "click_id",
  reference: "reference",
  currency: "currency",
  currencyAmount: "currency_amount",
  commodity: "commodity",
  network: "network",
  commodityAmount: "commodity_amount",
  walletAddress: "wallet_address",
  userId: "user_id",
  validForMs: "valid_for_ms",
  askedAt: "asked_at",
} as const satisfies Readonly<Record<keyof OrderExpectation, string>>;

/** Fields of an expectation. */
export const EXPECTATION_FIELDS = Object.keys(
  NAMES,
) as readonly (keyof OrderExpectation)[];

/**
 * The body of the event of an expectation.
 *
 * @param expectation What is expected.
 * @param options The id that was minted for it, and the clock in ms.
 * @throws {ExpectationError} `invalid`, with every field at fault.
 */
export function expectationBody(
  expectation: OrderExpectation,
  { id, now }: { readonly id: string; readonly now: number },
): OrderExpectedBody {
  const fields = new FieldReader(now);
  const given: Readonly<Record<string, unknown>> = { ...expectation };
  const nameOf = (field: string) =>
    Object.hasOwn(NAMES, field) ? NAMES[field as keyof typeof NAMES] : "";
  const stored = fields.read(given, { ...SHARED, ...TERMS }, { nameOf });
  for (const field of Object.keys(given)) {
    if (Object.hasOwn(NAMES, field)) continue;
    fields.issues.push({
      field,
      message: `is unknown; use ${EXPECTATION_FIELDS.join(", ")}`,
    });
  }
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
