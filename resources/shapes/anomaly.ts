import * as z from "zod";
import type { OddValue } from "../../core/wire/odd_field.ts";
import type { MismatchKind } from "../../ledger/for_resources.ts";
import type { Anomaly } from "../../ledger/mod.ts";
import type { Worded } from "../views/order_view.ts";
import { flag, message, named, oneOf, text, time } from "./_building.ts";
import type { Same } from "./same.ts";
import { statusSchema, verificationStateSchema } from "./status.ts";

const status = statusSchema;
const statuses = z.array(status);
const mismatch = oneOf<MismatchKind>({
  amount_mismatch: true,
  asset_mismatch: true,
  user_mismatch: true,
  address_mismatch: true,
  transaction_mismatch: true,
});

/** An anomaly as data, without a sentence. */
export const anomalyDataSchema = anomaly({});

/** Something odd that a person may have to look at. */
export const anomalySchema = named(
  "Anomaly",
  "Something odd that a person may have to look at, told apart by kind",
  anomaly(message),
);

true satisfies Same<z.infer<typeof anomalyDataSchema>, Anomaly>;
true satisfies Same<z.infer<typeof anomalySchema>, Worded<Anomaly>>;

function anomaly<More extends z.ZodRawShape>(more: More) {
  const of = <Kind extends string, Fields extends z.ZodRawShape>(
    kind: Kind,
    fields: Fields,
  ) => z.object({ kind: z.literal(kind), ...fields, ...more });
  return z.union([
    of("contested", { read: status, claimed: statuses }),
    of("contradictory_webhooks", { claimed: statuses }),
    of("contradicted", { claimed: status, read: status.nullable() }),
    of("final_changed", { read: status, before: statuses }),
    of("regression", { from: status, fromAt: time, to: status, toAt: time }),
    of("absent", { wasObserved: flag }),
    of("unrecognised_status", { read: status }),
    of("success_without_transaction", { field: z.literal("txId") }),
    of("transaction_on_unsuccessful", {
      field: z.literal("txId"),
      status,
      txId: text,
      source: oneOf<"snapshot" | "webhook">({ snapshot: true, webhook: true }),
    }),
    z.object({
      kind: mismatch,
      field: text,
      source: z.literal("webhook"),
      stated: text,
      read: text,
      ...more,
    }),
    z.object({
      kind: mismatch,
      field: text,
      source: z.literal("session"),
      requested: text,
      ordered: text,
      customerMayChoose: flag,
      ...more,
    }),
    of("session_mismatch", { sessionIds: z.array(text) }),
    of("verification_reversed", {
      field: oneOf<"lkyc" | "fkyc">({ lkyc: true, fkyc: true }),
      read: verificationStateSchema,
      before: z.array(verificationStateSchema),
    }),
    of("time_in_future", { field: text, stated: text }),
    of("unreadable_field", {
      field: text,
      value: oneOf<OddValue>({
        missing: true,
        null: true,
        empty: true,
        boolean: true,
        array: true,
        object: true,
        text: true,
        nul: true,
        too_long: true,
        too_deep: true,
      }),
    }),
  ]);
}
