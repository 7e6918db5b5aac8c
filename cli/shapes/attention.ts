import * as z from "zod";
import type { AttentionKind } from "../../ledger/mod.ts";
import type { AttentionJson } from "../views/attention_view.ts";
import { ms, named, oneOf, text } from "./_building.ts";
import type { Same } from "./_same.ts";
import { orderSchema } from "./order.ts";

/** An order that waits for a person. */
export const attentionItemSchema = named(
  "AttentionItem",
  "An order that waits for a person: why, the gravest first, and what to do",
  z.object({
    kinds: z.array(z.object({
      code: oneOf<AttentionKind>({
        refund_due: true,
        reversed_after_success: true,
        sent_without_success: true,
        cancelled_after_payment: true,
        amount_mismatch: true,
        success_without_transaction: true,
        final_changed: true,
        stuck: true,
        forged_or_unknown: true,
      }),
      message: text,
      next: text,
    })),
    ageMs: ms.nullable(),
    order: orderSchema,
  }),
);

true satisfies Same<z.infer<typeof attentionItemSchema>, AttentionJson>;
