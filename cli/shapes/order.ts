import * as z from "zod";
import type { Freshness, OrderState, Release } from "../../ledger/mod.ts";
import type { OrderJson } from "../views/order_view.ts";
import {
  bare,
  coded,
  decimalOrNull,
  flag,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  timeOrNull,
  worded,
} from "./_building.ts";
import type { Same } from "./_same.ts";
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

const unsent = { claimedTxId: textOrNull };

const verdict = named(
  "OrderVerdict",
  "The one thing to know of an order first: for people; programs go by release",
  worded({
    ...bare({
      nothing_known: true,
      unknown_to_service: true,
      without_status: true,
      created: true,
      progress: true,
      success_without_transaction: true,
    }),
    not_shown_yet: { claimed: status },
    no_longer_shown: { read: status },
    unrecognised_status: { read: status },
    not_confirmed: { claimed: status, read: status.nullable() },
    claim_rejected: { claimed: statuses, read: status },
    pending: { transferSeen: flag },
    final_changed: { read: status, before: statuses, txId: textOrNull },
    succeeded: { txId: textOrNull },
    success_not_as_requested: { fields: z.array(text) },
    sent_without_success: { read: status, txId: text },
    refund_due: { read: status, ...unsent },
    failed: { failReason: textOrNull, ...unsent },
    cancelled_by_customer: unsent,
    cancelled_after_payment: unsent,
  }),
);

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
  ...bare({
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
    "wait: anything else",
  oneOf<Release>({ yes: true, no: true, wait: true }),
);

const stated = z.object({ ...facts, status });

const state = {
  ...facts,
  orderId: text,
  status,
  trust: trustSchema,
  release: releaseSchema,
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
  asked: z.object({
    sessionId: text,
    flowType: text,
    reference: textOrNull,
    commodity: textOrNull,
    network: textOrNull,
    commodityAmount: decimalOrNull,
    currency: textOrNull,
    currencyAmount: decimalOrNull,
    walletAddress: textOrNull,
    userId: textOrNull,
  }).nullable(),
  sessionTrust: trustSchema.nullable(),
};

/** The state of an order as data, as handlers and receivers get it. */
export const orderStateSchema = named(
  "OrderState",
  "The state of an order as data, without sentences",
  z.object({
    ...state,
    reason: coded(reasons, {}),
    anomalies: z.array(anomalyDataSchema),
  }),
);

const order = {
  ...state,
  verdict,
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
    askedAt: timeOrNull,
    tier: oneOf<Freshness["tier"]>({
      named: true,
      open: true,
      lately_final: true,
      deep: true,
    }),
    nextAt: timeOrNull,
    notOlderThanMs: ms.nullable(),
    unbound: oneOf<NonNullable<Freshness["unbound"]>>({
      never_shown: true,
      not_polled: true,
      polling_fails: true,
      behind: true,
    }).nullable(),
  }),
);

/** An order, as `orders show` has it. */
export const shownOrderSchema = named(
  "ShownOrder",
  "An order, and how fresh it is",
  z.object({ ...order, freshness: freshnessSchema }),
);

true satisfies Same<z.infer<typeof orderSchema>, OrderJson>;
true satisfies Same<z.infer<typeof freshnessSchema>, Freshness>;
true satisfies Same<z.infer<typeof orderStateSchema>, OrderState>;
