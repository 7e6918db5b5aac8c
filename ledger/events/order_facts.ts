import { fieldsWith } from "../../core/wire/order_fields.ts";
import { recordBy } from "../../core/guards.ts";

/** Fields that a webhook and a reading of the Data API can both state. */
export interface OrderFacts {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string as sent. */
  readonly currencyAmount: string | null;
  /** Asset code in upper case. */
  readonly commodity: string | null;
  /** Network; webhooks do not state it. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string as sent. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id; the test click id is left out. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** Payment error code or text. */
  readonly failReason: string | null;
}

/** The names of these fields, in the order of the table of fields. */
export const FACT_FIELDS: readonly (keyof OrderFacts)[] = fieldsWith("same");

/**
 * Facts of an order, the value of each given by its name; null means unknown.
 */
export const factsBy: FieldsBy<OrderFacts> = recordBy(FACT_FIELDS);

type FieldsBy<Fields> = (
  value: (field: keyof Fields) => string | null,
) => Fields;

/** Fields that a reading of the Data API alone states. */
export interface OrderDetails {
  /** Middle part of the dotted asset, for example `simple` or `sc`. */
  readonly cryptoType: string | null;
  /** Card used. */
  readonly cardId: string | null;
  /** Card brand. */
  readonly cardBrand: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string | null;
  /** Acquirer. */
  readonly processedThrough: string | null;
}

/** Details of an order, the value of each given by its name. */
export const detailsBy: FieldsBy<OrderDetails> = recordBy(
  fieldsWith("part", "details"),
);

/** Fees: amounts are USD decimal strings, percents are shares as sent. */
export interface OrderFees {
  /** The partner's fee in USD. */
  readonly partnerFee: string | null;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string | null;
  /** The service's fee in USD. */
  readonly serviceFee: string | null;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string | null;
}

/** Fees of an order, the value of each given by its name. */
export const feesBy: FieldsBy<OrderFees> = recordBy(fieldsWith("part", "fees"));

/** Every result of a comparison. */
export const MATCH_FACTS = [
  "nothing",
  "incomplete",
  "differs",
  "several",
  "matched",
] as const;

/**
 * How the latest reading compares with what the partner recorded.
 *
 * - `nothing`: nothing was recorded that the order can belong to.
 * - `incomplete`: what was recorded agrees, and something that it names could
 *   not be compared, or it names no amount.
 * - `differs`: nothing that was recorded agrees.
 * - `several`: more than one reference agrees, or too many were recorded.
 * - `matched`: what was recorded for one reference agrees, amount included.
 */
export type MatchFact = (typeof MATCH_FACTS)[number];

/** What a webhook states of an order's fields; null means not stated. */
export interface ClaimBody extends Omit<OrderFacts, "network"> {
  /** Digest of the body. */
  readonly digest: string;
  /** Address of a smart contract. */
  readonly scAddress: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
}

/** A field that a webhook states of an order. */
export type ClaimField = Exclude<keyof ClaimBody, "digest">;

/** The fields that a webhook states of an order, in the order of the table. */
export const CLAIM_FIELDS: readonly ClaimField[] = [
  ...fieldsWith("webhook"),
  "scAddress",
];
