import * as z from "zod";
import type {
  FieldDifference,
  ReconcileCategory,
  ReconcileFlag,
} from "../../sync/mod.ts";
import type { ReconcileJson, RecoverJson } from "../views/reconcile_view.ts";
import {
  coded,
  count,
  decimalOrNull,
  each,
  flag,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
  withFields,
  withoutFields,
  worded,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { statusSchema, trustSchema } from "./status.ts";

const status = statusSchema;

const categories: Readonly<Record<ReconcileCategory, true>> = {
  agree: true,
  claimed_only: true,
  behind: true,
  final_changed: true,
  contradicted: true,
  absent: true,
};

const flags: Readonly<Record<ReconcileFlag, true>> = {
  missed_webhook: true,
  stuck: true,
  refund_due: true,
  amount_mismatch: true,
  not_as_requested: true,
  cancelled_after_payment: true,
  success_without_transaction: true,
};

const incompleteCases = {
  ...withoutFields({
    not_begun: true,
    stopped: true,
    begun_in_the_middle: true,
    window_open: true,
    one_pass: true,
  }),
  ...withFields({ cursor_repeated: true, items_repeated: true }, {
    page: count,
  }),
  rows_without_id: { rows: count },
  ...withFields({ filter_changes: true, filter_unknown: true }, {
    filter: text,
  }),
  window_too_young: { settleMs: ms },
  passes_differ: { seen: z.array(count), together: count },
};

const incomplete = named(
  "IncompleteReason",
  "Why a walk through the service's list may have missed something",
  coded(incompleteCases, {}),
);

const unproven = named(
  "UnprovenReason",
  "Why it is not proven that the service showed everything",
  coded({
    ...incompleteCases,
    order_refused: { orderId: text },
    ...withoutFields({ search_not_ended: true }),
  }, {}),
);

const finding = named(
  "ReconcileFinding",
  "What was found about one order",
  worded({
    unknown_to_service: { status, trust: trustSchema },
    unknown_to_ledger: { status },
    claim_contests_final: { read: status, claimed: z.array(status) },
    claim_contradicted: { claimed: status, read: status.nullable() },
    final_changed: { read: status, before: z.array(status) },
    ...withoutFields({
      claim_of_other_end: true,
      claim_equal: true,
      claim_differs: true,
      change_not_read: true,
    }),
    agree: { status },
  }),
);

const row = named(
  "ReconcileRow",
  "One order as the service and the ledger have it, compared",
  z.object({
    orderId: text,
    externalOrderId: textOrNull,
    category: oneOf(categories),
    disagrees: flag,
    flags: z.array(oneOf(flags)),
    serviceStatus: status.nullable(),
    ledgerStatus: status.nullable(),
    trust: trustSchema.nullable(),
    differences: z.array(z.object({
      field: oneOf<FieldDifference["field"]>({
        currency: true,
        currencyAmount: true,
        commodity: true,
        network: true,
        cryptoAmount: true,
        address: true,
        txId: true,
        userId: true,
        clickId: true,
        externalOrderId: true,
        failReason: true,
        status: true,
      }),
      service: textOrNull,
      ledger: textOrNull,
    })),
    createdAt: timeOrNull,
    changedAt: timeOrNull,
    onChain: z.object({
      commodity: textOrNull,
      network: textOrNull,
      cryptoAmount: decimalOrNull,
      address: textOrNull,
      txId: textOrNull,
    }),
    finding,
  }),
);

/** Service and ledger, compared. */
export const reconcileReportSchema = named(
  "ReconcileReport",
  "Service and ledger, compared over a window of creation time",
  z.object({
    from: time,
    to: time,
    provenUpTo: time,
    orders: count,
    counts: each({ ...categories, ...flags }, count),
    disagreements: count,
    complete: flag,
    why: textOrNull,
    reason: unproven.nullable(),
    rows: z.array(row),
  }),
);

/** What was read again after an outage. */
export const recoverReportSchema = named(
  "RecoverReport",
  "What was read again after an outage, and whether that is proven to be all",
  z.object({
    complete: flag,
    why: textOrNull,
    reason: incomplete.nullable(),
    from: time,
    to: time,
    provenUpTo: time,
    requests: count,
    orders: count,
    users: count,
    appended: count,
  }),
);

true satisfies Same<z.infer<typeof reconcileReportSchema>, ReconcileJson>;
true satisfies Same<z.infer<typeof recoverReportSchema>, RecoverJson>;
