import assert from "node:assert/strict";
import { emptyRecord } from "../../core/guards.ts";
import { ORDER_FIELD_NAMES } from "../../core/wire/fields.ts";
import {
  type ReconcileFinding,
  reconcileOrder,
  type ReconcileRow,
  type ReconcileRules,
} from "./reconcile_order.ts";
import type { Anomaly, OrderState } from "../../ledger/mod.ts";

const rules: ReconcileRules = {
  readAtMs: Date.parse("2026-11-20T12:00:00.000Z"),
  assets: "production",
};

const CODES: Readonly<Record<string, OrderState["facts"]["code"]>> = {
  "4004": "declined",
  "4016": "late",
  "4017": "amount",
  "4018": "user",
};

/** A state of a success but for `changes`, with the facts that follow. */
function state(changes: Partial<OrderState> = {}): OrderState {
  const { status = "success", failReason = null, txId } = changes;
  return {
    ...emptyRecord(ORDER_FIELD_NAMES),
    orderId: "01JORDER",
    status: "success",
    trust: "confirmed",
    reason: { code: "reading_is_final", read: "success" },
    outcome: "nothing_recorded",
    release: "unchecked",
    releaseReason: "nothing_recorded",
    booked: "sale",
    attention: ["not_comparable"],
    byHand: null,
    witness: null,
    facts: {
      shown: status as OrderState["facts"]["shown"],
      gone: "no",
      before: "none",
      code: CODES[failReason ?? ""] ?? "none",
      tx: txId === null ? "empty" : status === "success" ? "named" : "unstated",
      match: "nothing",
      chain: "none",
      required: "no",
      claim: "none",
    },
    currency: "USD",
    currencyAmount: "100",
    commodity: "USDT",
    network: "polygon",
    cryptoAmount: "99.5",
    address: `0x${"aB".repeat(20)}`,
    txId: `0x${"1".repeat(64)}`,
    userId: "01JUSER",
    clickId: "click",
    externalOrderId: "ABC123",
    createdAt: "2026-11-20T10:00:00Z",
    changedAt: "2026-11-20T10:10:00Z",
    cryptoType: "simple",
    fees: {
      partnerFee: null,
      partnerFeePercent: null,
      serviceFee: null,
      serviceFeePercent: null,
    },
    smartContract: { address: null, inputData: null },
    transferSeen: false,
    history: [{ source: "webhook", status: "success" }],
    claimed: null,
    confirmed: null,
    sessions: [],
    expected: null,
    expectedChanged: false,
    uncompared: [],
    anomalies: [],
    ...changes,
  };
}

function compare(
  service: Partial<OrderState> | null,
  ledger: Partial<OrderState> | null,
  changes: Partial<ReconcileRules> = {},
): ReconcileRow {
  return reconcileOrder({
    service: service && state({ history: [], ...service }),
    ledger: ledger && state(ledger),
  }, { ...rules, ...changes });
}

Deno.test("reconcileOrder() finds agreement", () => {
  const row = compare({}, {});
  assert.equal(row.category, "agree");
  assert.equal(row.disagrees, false);
  assert.deepEqual(row.flags, []);
  assert.deepEqual(row.onChain, {
    commodity: "USDT",
    network: "polygon",
    cryptoAmount: "99.5",
    address: `0x${"aB".repeat(20)}`,
    txId: `0x${"1".repeat(64)}`,
  });
});

Deno.test("reconcileOrder() compares money as exact decimals at the asset's precision", () => {
  const agree = (service: string, ledger: string) =>
    compare({ cryptoAmount: service }, { cryptoAmount: ledger }).category;
  assert.equal(agree("99.5", "99.500000"), "agree");
  assert.equal(agree("99.5", "99.5000004"), "agree");
  assert.equal(agree("99.5", "99.500001"), "behind");
  // Beyond a double: the two differ in the 18th digit only.
  const wide = { commodity: "ETH", network: "ethereum" };
  assert.equal(
    compare(
      { ...wide, cryptoAmount: "1234567.000000000000000001" },
      { ...wide, cryptoAmount: "1234567.000000000000000002" },
    ).category,
    "behind",
  );
  assert.equal(
    compare({ currencyAmount: "100.00" }, { currencyAmount: "100" }).category,
    "agree",
  );
});

Deno.test("reconcileOrder() does not mind case where case says nothing", () => {
  const row = compare(
    {
      address: `0x${"ab".repeat(20)}`,
      txId: `0x${"1".repeat(64)}`,
      currency: "usd",
      commodity: "usdt",
    },
    {},
  );
  assert.equal(row.category, "agree");
});

Deno.test("reconcileOrder() takes a field the answer leaves out for unsaid", () => {
  const facts = { ...state().facts, tx: "unstated" } as const;
  const row = compare({ txId: null, facts, externalOrderId: null }, {});
  assert.equal(row.category, "agree");
  assert.equal(compare({}, { txId: null }).category, "behind");
});

Deno.test("reconcileOrder() finds a transaction that the service states no more", () => {
  const { category, differences } = reconcileOrder(
    { service: state({ txId: null }), ledger: state() },
    rules,
  );
  assert.equal(category, "behind");
  assert.deepEqual(differences, [
    { field: "txId", service: null, ledger: `0x${"1".repeat(64)}` },
  ]);
  const { category: open } = reconcileOrder({
    service: state({ status: "pending", txId: null }),
    ledger: state({ status: "pending" }),
  }, rules);
  assert.equal(open, "agree");
});

Deno.test("reconcileOrder() finds a ledger that is behind", () => {
  const row = compare({}, { status: "pending" });
  assert.equal(row.category, "behind");
  assert.equal(row.disagrees, true);
  assert.deepEqual(row.differences, [
    { field: "status", service: "success", ledger: "pending" },
  ]);
  const unknown = compare({}, null);
  assert.equal(unknown.category, "behind");
  assert.equal(unknown.disagrees, true);
  assert.deepEqual(unknown.finding, {
    code: "unknown_to_ledger",
    status: "success",
  });
});

Deno.test("reconcileOrder() finds what is claimed only", () => {
  const right = compare({}, { trust: "claimed" });
  assert.equal(right.category, "claimed_only");
  assert.equal(right.disagrees, false);
  const ahead = compare({ status: "pending" }, { trust: "claimed" });
  assert.equal(ahead.category, "claimed_only");
  assert.equal(ahead.disagrees, true);
});

Deno.test("reconcileOrder() finds contradicted claims", () => {
  const anomalies: readonly [Anomaly, ReconcileFinding][] = [
    [
      { kind: "contested", read: "failed", claimed: ["success"] },
      { code: "claim_contests_final", read: "failed", claimed: ["success"] },
    ],
    [
      { kind: "contradicted", read: "failed", claimed: "success" },
      { code: "claim_contradicted", read: "failed", claimed: "success" },
    ],
  ];
  for (const [anomaly, finding] of anomalies) {
    const row = compare({ status: "failed" }, {
      status: "failed",
      anomalies: [anomaly],
    });
    assert.equal(row.category, "contradicted");
    assert.deepEqual(row.finding, finding);
    assert.equal(row.disagrees, false);
  }
  const end = compare({ status: "failed" }, { trust: "claimed" });
  assert.equal(end.category, "contradicted");
  assert.equal(end.disagrees, true);
});

Deno.test("reconcileOrder() finds a final status that the service took back", () => {
  const taken: Anomaly = {
    kind: "final_changed",
    read: "cancelled",
    before: ["success"],
  };
  const read = compare({ status: "cancelled" }, {
    status: "cancelled",
    anomalies: [taken],
  });
  assert.equal(read.category, "final_changed");
  assert.equal(read.disagrees, true, "although both hold the same");
  assert.deepEqual(read.finding, {
    code: "final_changed",
    read: "cancelled",
    before: ["success"],
  });
  const later = "2026-11-20T11:00:00Z";
  for (
    const [before, now] of [
      ["failed", "success"],
      ["failed", "cancelled"],
      ["success", "cancelled"],
      ["success", "pending"],
    ] as const
  ) {
    const row = compare({ status: now, changedAt: later }, { status: before });
    assert.equal(row.category, "final_changed", `${before} to ${now}`);
    assert.deepEqual(row.finding, {
      code: "final_changed",
      read: now,
      before: [before],
    });
  }
  const sameSecond = compare({ status: "cancelled" }, { status: "success" });
  assert.equal(sameSecond.category, "final_changed");
  const earlierRank = compare({ status: "failed" }, { status: "success" });
  assert.equal(earlierRank.category, "behind");
  const back = compare({ status: "success", changedAt: later }, {
    status: "cancelled",
    anomalies: [taken],
  });
  assert.deepEqual(back.finding, {
    code: "final_changed",
    read: "success",
    before: ["cancelled"],
  });
});

Deno.test("reconcileOrder() takes no older answer of the service for a change of its mind", () => {
  const row = compare(
    { status: "pending", changedAt: "2026-11-20T10:05:00Z" },
    {},
  );
  assert.equal(row.category, "behind");
});

Deno.test("reconcileOrder() finds an order the service does not know", () => {
  const row = compare(null, { status: "success", trust: "claimed" });
  assert.equal(row.category, "absent");
  assert.equal(row.disagrees, true);
  assert.deepEqual(row.flags, []);
  assert.throws(() => compare(null, null), TypeError);
});

Deno.test("reconcileOrder() flags a webhook that never came", () => {
  const flags = (
    service: Partial<OrderState>,
    history: OrderState["history"],
  ) => compare(service, { ...service, history }).flags;
  const heard = [{ source: "webhook", status: "progress" }] as const;
  assert.deepEqual(flags({}, heard), ["missed_webhook"]);
  assert.deepEqual(flags({ status: "progress" }, heard), []);
  assert.deepEqual(flags({ status: "progress" }, []), ["missed_webhook"]);
  assert.deepEqual(flags({ status: "created" }, []), []);
  assert.deepEqual(flags({ changedAt: "2026-11-20T11:56:00Z" }, []), []);
  assert.deepEqual(compare({}, null).flags, ["missed_webhook"]);
});

Deno.test("reconcileOrder() flags an order that was paid and not delivered", () => {
  const history = [{ source: "webhook", status: "pending" }] as const;
  const flags = (status: string, changes: Partial<OrderState> = {}) =>
    compare({ status, ...changes }, { status, history, ...changes }).flags;
  assert.deepEqual(flags("pending"), ["stuck"]);
  assert.deepEqual(
    flags("pending", { changedAt: "2026-11-20T11:00:01Z" }),
    [],
  );
  assert.deepEqual(flags("progress"), []);
  assert.deepEqual(flags("progress", { transferSeen: true }), ["stuck"]);
});

Deno.test("reconcileOrder() flags what needs a person for money's sake", () => {
  const flags = (changes: Partial<OrderState>) => {
    const history = [{
      source: "webhook",
      status: changes.status ?? "success",
    }] as const;
    return compare(changes, { ...changes, history }).flags;
  };
  const failed = { status: "failed" };
  assert.deepEqual(flags({ ...failed, failReason: "4016" }), ["refund_due"]);
  assert.deepEqual(flags({ ...failed, failReason: "4017" }), [
    "amount_mismatch",
  ]);
  assert.deepEqual(flags({ ...failed, failReason: "4004" }), []);
  assert.deepEqual(flags({ status: "cancelled" }), [
    "cancelled_after_payment",
  ]);
  assert.deepEqual(flags({ status: "cancelled", failReason: "4018" }), []);
  assert.deepEqual(flags({ txId: null }), ["success_without_transaction"]);
  assert.deepEqual(compare({}, { attention: ["not_as_requested"] }).flags, [
    "not_as_requested",
  ]);
});
