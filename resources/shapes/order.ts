import * as z from "zod";
import type { Freshness } from "../../sync/mod.ts";
import type {
  HandOutcome,
  OrderState,
  RecordedRelease,
  Release,
} from "../../ledger/mod.ts";
import type { FoundBy } from "../views/found_by.ts";
import type { OrderJson } from "../views/order_view.ts";
import {
  ATTENTION_KINDS,
  type Booked,
  FACT_VALUES,
  OUTCOME_TABLE,
  type OutcomeCode,
} from "../../ledger/for_resources.ts";
import {
  among,
  coded,
  decimalOrNull,
  flag,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  withoutFields,
  worded,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { anomalyDataSchema, anomalySchema } from "./anomaly.ts";
import { statusSchema, trustSchema } from "./status.ts";

const status = statusSchema;
const statuses = z.array(status);

const facts = {
  currency: textOrNull,
  currencyAmount: decimalOrNull,
  commodity: textOrNull,
  network: textOrNull,
  cryptoAmount: decimalOrNull,
  address: textOrNull,
  txId: textOrNull,
  userId: textOrNull,
  clickId: textOrNull,
  externalOrderId: textOrNull,
  failReason: textOrNull,
};

const reasons = {
  reading_is_final: { read: status },
  reading_stands: { read: status },
  reading_unrecognised: { read: status },
  reading_without_status: { claimed: status.nullable() },
  final_reading_contested: { read: status, contesting: statuses },
  higher_claims_contradicted: { read: status, contradicted: statuses },
  claim_ahead_of_reading: { claimed: status, read: status },
  claim_not_read: { claimed: status },
  claim_of_absent_order: { claimed: status },
  all_claims_contradicted: { contradicted: statuses },
  ...withoutFields({
    nothing_claimed_or_read: true,
    nothing_claimed_of_absent_order: true,
  }),
};

const reason = named(
  "OrderReason",
  "Why the status of an order is what it is",
  worded(reasons),
);

/** Whether the goods that an order pays for may be released. */
export const releaseSchema = named(
  "Release",
  "yes: the goods may be released; no: the order ended without success; " +
    "unchecked: success, and no amount was recorded to compare with; " +
    "wait: anything else",
  oneOf<Release>({ yes: true, no: true, wait: true, unchecked: true }),
);

/** Code of a row of the table of outcomes. */
export const outcomeCode: z.ZodType<OutcomeCode> = among(
  OUTCOME_TABLE.map(({ code }) => code),
);

/** What the row that applies says of an order. */
export const outcomeFields = {
  release: releaseSchema,
  releaseReason: among(
    [...new Set(OUTCOME_TABLE.map(({ reason }) => reason))],
  ),
  booked: oneOf<Booked>({ sale: true, reversal: true, nothing: true }),
  attention: z.array(among(ATTENTION_KINDS)),
  facts: z.object({
    shown: among(FACT_VALUES.shown),
    gone: among(FACT_VALUES.gone),
    before: among(FACT_VALUES.before),
    code: among(FACT_VALUES.code),
    tx: among(FACT_VALUES.tx),
    match: among(FACT_VALUES.match),
    chain: among(FACT_VALUES.chain),
    claim: among(FACT_VALUES.claim),
  }),
};

const stated = z.object({ ...facts, status });

const state = {
  ...facts,
  orderId: text,
  status,
  trust: trustSchema,
  ...outcomeFields,
  createdAt: timeOrNull,
  changedAt: timeOrNull,
  cryptoType: textOrNull,
  cardId: textOrNull,
  cardBrand: textOrNull,
  paymentType: textOrNull,
  processedThrough: textOrNull,
  fees: z.object({
    partnerFee: decimalOrNull,
    partnerFeePercent: decimalOrNull,
    serviceFee: decimalOrNull,
    serviceFeePercent: decimalOrNull,
  }),
  smartContract: z.object({ address: textOrNull, inputData: textOrNull }),
  transferSeen: flag,
  history: z.array(z.object({
    source: oneOf<"webhook" | "snapshot">({ webhook: true, snapshot: true }),
    status,
  })),
  claimed: stated.nullable(),
  confirmed: stated.nullable(),
  sessions: z.array(text),
  expected: z.object({
    id: text,
    sessionId: textOrNull,
    flowType: textOrNull,
    clickId: textOrNull,
    reference: textOrNull,
    commodity: textOrNull,
    network: textOrNull,
    commodityAmount: decimalOrNull,
    currency: textOrNull,
    currencyAmount: decimalOrNull,
    walletAddress: textOrNull,
    userId: textOrNull,
  }).nullable(),
};

/** The state of an order as data, as handlers and receivers get it. */
export const orderStateSchema = named(
  "OrderState",
  "The state of an order as data, without sentences",
  z.object({
    ...state,
    outcome: outcomeCode,
    reason: coded(reasons, {}),
    anomalies: z.array(anomalyDataSchema),
  }),
);

const order = {
  ...state,
  outcome: z.object({
    code: outcomeCode,
    message: text,
    next: text,
    customer: text,
  }),
  reason,
  failMeaning: textOrNull,
  anomalies: z.array(anomalySchema),
};

/** An order, as lists have it. */
export const orderSchema = named(
  "Order",
  "The state of an order, and the sentences made of its codes",
  z.object(order),
);

/** How fresh the ledger's word is. */
export const freshnessSchema = named(
  "Freshness",
  "How old the service's last answer about an order or user can be",
  z.object({
    requestedAt: timeOrNull,
    tier: oneOf<Freshness["tier"]>({
      named: true,
      open: true,
      recently_final: true,
      deep: true,
    }),
    nextAt: timeOrNull,
    maxAgeMs: ms.nullable(),
    unboundedReason: oneOf<NonNullable<Freshness["unboundedReason"]>>({
      never_observed: true,
      not_polled: true,
      polling_fails: true,
      behind: true,
    }).nullable(),
  }),
);

/** How an order was found by a reference. */
export const foundBySchema = named(
  "FoundBy",
  "How sure it is that an order belongs to the reference it was found by",
  z.object({ trust: trustSchema, alsoClaimed: z.array(text) }),
);

/** What a person did about an order. */
export const recordedReleaseSchema = named(
  "RecordedRelease",
  "What a person did about an order",
  z.object({
    outcome: oneOf<HandOutcome>({ delivered: true, refunded: true }),
    by: text,
    why: text,
    for: text.nullable(),
    at: time,
  }),
);

/** An order, as `orders show` has it. */
export const orderDetailSchema = named(
  "OrderDetail",
  "An order, and how fresh it is",
  z.object({
    ...order,
    freshness: freshnessSchema,
    foundBy: foundBySchema,
    releasedByHand: recordedReleaseSchema.nullable(),
  }),
);

true satisfies Same<z.infer<typeof orderSchema>, OrderJson>;
true satisfies Same<z.infer<typeof freshnessSchema>, Freshness>;
true satisfies Same<z.infer<typeof foundBySchema>, FoundBy>;
true satisfies Same<z.infer<typeof recordedReleaseSchema>, RecordedRelease>;
true satisfies Same<z.infer<typeof orderStateSchema>, OrderState>;
