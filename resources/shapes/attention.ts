import * as z from "zod";
import { ATTENTION_KINDS } from "../../ledger/for_resources.ts";
import type { AttentionJson } from "../views/attention_view.ts";
import { among, ms, named, text } from "./_building.ts";
import type { Same } from "./same.ts";
import { orderSchema } from "./order.ts";

/** An order that waits for a person. */
export const attentionItemSchema = named(
  "AttentionItem",
  "An order that waits for a person: why, the gravest first, and what to do",
  z.object({
    kinds: z.array(z.object({
      code: among(ATTENTION_KINDS),
      message: text,
    })),
    next: text,
    ageMs: ms.nullable(),
    order: orderSchema,
  }),
);

true satisfies Same<z.infer<typeof attentionItemSchema>, AttentionJson>;
