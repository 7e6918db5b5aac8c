/** An order of each row of the table of outcomes, made by events. */
import type { NewEvent } from "../../ledger/mod.ts";
import type { OutcomeCode } from "../../ledger/for_resources.ts";
import {
  chainReading,
  orderAbsent,
  orderContradicted,
  sessionCreated,
  witnessRequired,
} from "../../ledger/testing/mod.ts";
import {
  minutesAgo,
  oddReading,
  oddWebhook,
  transactionOf,
} from "./odd_ledger.ts";

const salt = new Uint8Array(16).fill(6);

/** The order that is made for a row. */
export function orderOfRow(code: OutcomeCode): string {
  return `01K${code.toUpperCase()}`;
}

/** What is recorded before an order, under its click id. */
function asked(
  orderId: string,
  fields: Readonly<Record<string, string>> = {},
): NewEvent {
  return sessionCreated({
    session: {
      session_id: `session-${orderId}-${fields.reference ?? ""}`,
      flow_type: "simple",
      click_id: `click-${orderId}`,
      reference: `basket-${orderId}`,
      currency: "USD",
      currency_amount: "100.5",
      ...fields,
    },
    recordedAt: minutesAgo(600),
    salt,
  });
}

function absent(orderId: string, minutes: number): NewEvent {
  const at = minutesAgo(minutes);
  return orderAbsent({ orderId, readAt: at, recordedAt: at, salt });
}

type Made = (orderId: string) => readonly NewEvent[];

/** One reading, `minutes` ago. */
const read = (
  status: string,
  minutes: number,
  fields: Readonly<Record<string, unknown>> = {},
): Made =>
(id) => [oddReading(id, status, minutes, fields)];

/** A success that is what was recorded, but for these fields. */
const matched = (
  fields: Readonly<Record<string, unknown>> = {},
  terms: Readonly<Record<string, string>> = {},
): Made =>
(id) => [asked(id, terms), oddReading(id, "success", 300, fields)];

const later = (made: Made, status: string): Made => (id) => [
  ...made(id),
  oddReading(id, status, 240, {
    changed_at: minutesAgo(241),
    created_at: minutesAgo(360),
  }),
];

/** The chain shows that the transaction of an order was undone. */
function undone(orderId: string): NewEvent {
  return chainReading({
    looked: {
      ...{ order_id: orderId, network: "ethereum", amount: "0.031" },
      ...{ asset: "ETH", type: "simple" },
      tx_id: transactionOf(orderId),
      address: "0xAbCdEf0123456789abcdef0123456789ABCDEF01",
      ...{ verdict: "reverted", final: true, nodes: ["own-1"] },
      ...{ block_hash: "0xb10c", block_height: 871_204, confirmations: 40 },
    },
    readAt: minutesAgo(290),
    recordedAt: minutesAgo(290),
    salt,
  });
}

/** A success that was read so long ago, and waits for the chain alone. */
const unseen = (minutes: number): Made => (id) => {
  const created = minutes + 60;
  const [since, until] = [minutesAgo(created + 5), minutesAgo(created - 5)];
  return [
    asked(id, { asked_at: minutesAgo(created + 10) }),
    witnessRequired({
      required: { since, unsupported: "wait" },
      recordedAt: since,
      salt,
    }),
    witnessRequired({ required: { until }, recordedAt: until, salt }),
    oddReading(id, "success", minutes),
  ];
};

const ROWS: Readonly<Record<OutcomeCode, Made>> = {
  not_read_yet: (id) => [oddWebhook(id, "payment_started", 3)],
  not_shown_yet: (id) => [oddWebhook(id, "order_complete", 3), absent(id, 2)],
  unknown_to_service: (id) => [
    oddWebhook(id, "order_complete", 90),
    absent(id, 85),
    orderContradicted({
      orderId: id,
      status: "success",
      upTo: minutesAgo(90),
      readAt: minutesAgo(79),
      recordedAt: minutesAgo(79),
      salt,
    }),
  ],
  no_longer_shown: (id) => [...matched()(id), absent(id, 10)],
  unknown_status: read("frozen", 30),
  reversed: later(matched(), "failed"),
  success_withdrawn: later(matched(), "pending"),
  sent_without_success: read("failed", 30, { tx_id: `0x${"1".repeat(64)}` }),
  refund_due: read("failed", 30, { fail_reason: "4016" }),
  other_amount_paid: read("failed", 30, { fail_reason: "4017" }),
  end_changed: later(read("failed", 300), "cancelled"),
  cancelled_by_customer: read("cancelled", 30, { fail_reason: "4018" }),
  cancelled_after_payment: read("cancelled", 30),
  not_paid_in_time: read("failed", 30, { fail_reason: "4015" }),
  declined: read("failed", 30, { fail_reason: "4002" }),
  failed: read("failed", 30),
  refund_due_open: read("pending", 30, { fail_reason: "4016" }),
  other_amount_open: read("pending", 30, { fail_reason: "4017" }),
  reopened: later(read("failed", 300), "pending"),
  stuck: read("pending", 180),
  created: read("created", 20),
  processing: read("pending", 20),
  success_after_end: (id) => [
    asked(id),
    ...later(read("failed", 300), "success")(id),
  ],
  not_as_requested: matched({}, { currency_amount: "900" }),
  success_paid_late: matched({ fail_reason: "4016" }),
  success_with_error: matched({ fail_reason: "4017" }),
  success_without_transaction: matched({ tx_id: "" }),
  chain_differs: (id) => [...matched()(id), undone(id)],
  several_match: (id) => [
    asked(id, { reference: "basket-other" }),
    ...matched()(id),
  ],
  paid_twice: (id) => [
    ...matched({}, { reference: "basket-twice" })(`${id}_FIRST`),
    ...matched({}, { reference: "basket-twice" })(id),
  ],
  witness_missing: unseen(1600),
  witness_open: unseen(100),
  session_matched: matched(),
  incomplete: matched({}, { currency: "", currency_amount: "" }),
  nothing_recorded: read("success", 30),
};

/** Events of an order of each row. */
export function outcomeEvents(): NewEvent[] {
  return Object.entries(ROWS).flatMap(([code, made]) =>
    made(orderOfRow(code as OutcomeCode))
  );
}
