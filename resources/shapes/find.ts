import * as z from "zod";
import type { FoundField } from "../../ledger/types.ts";
import type { FoundJson } from "../views/find_view.ts";
import { named, oneOf, text } from "./_building.ts";
import type { Same } from "./same.ts";
import { orderSchema } from "./order.ts";
import { entitySchema, trustSchema } from "./status.ts";
import { userSchema } from "./user.ts";

/** An order or a user that a text leads to. */
export const foundSchema = named(
  "Found",
  "An order or a user that a text leads to, and what the text was found as",
  z.object({
    entity: entitySchema,
    matches: z.array(z.object({
      field: oneOf<FoundField>({
        orderId: true,
        externalOrderId: true,
        reference: true,
        clickId: true,
        sessionId: true,
        txId: true,
        address: true,
        userId: true,
      }),
      value: text,
      trust: trustSchema,
    })),
    order: orderSchema.nullable(),
    user: userSchema.nullable(),
  }),
);

true satisfies Same<z.infer<typeof foundSchema>, FoundJson>;
