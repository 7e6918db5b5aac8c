import * as z from "zod";
import type { StoredDelivery } from "../../ledger/mod.ts";
import {
  count,
  countOrNull,
  flag,
  named,
  text,
  textOrNull,
  time,
} from "./_building.ts";
import type { Same } from "./same.ts";

const delivery = {
  id: text,
  position: count,
  receivedAt: time,
  type: textOrNull,
  quarantined: flag,
  orderId: textOrNull,
  userId: textOrNull,
  clickId: textOrNull,
  bytes: countOrNull,
};

/** A webhook delivery, as lists have it. */
export const deliverySchema = named(
  "Delivery",
  "A webhook delivery as it is stored, without its body",
  z.object(delivery),
);

/** A delivery with its body. */
export const deliveryDetailSchema = named(
  "DeliveryDetail",
  "A webhook delivery with its body",
  z.object({
    ...delivery,
    reasons: z.array(text),
    text: textOrNull,
    base64: textOrNull,
  }),
);

true satisfies Same<z.infer<typeof deliverySchema>, StoredDelivery>;
