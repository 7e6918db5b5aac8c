import type { StoredDelivery } from "../../../ledger/mod.ts";
import { type Markup, markup, NOTHING, table } from "../markup/markup.ts";
import { outside } from "../markup/outside.ts";
import { moment } from "../markup/times.ts";
import { bodyPath } from "../../../resources/views/page_paths.ts";
import { orderLink, userLink } from "./order_table.ts";

/** Deliveries, one a line. */
export function deliveryTable(deliveries: readonly StoredDelivery[]): Markup {
  if (deliveries.length === 0) return markup`<p class="soft">None.</p>`;
  return table(
    "Deliveries",
    [
      { title: "Received" },
      { title: "Type" },
      { title: "Order" },
      { title: "User" },
      { title: "Bytes", number: true },
    ],
    deliveries.map(({ id, receivedAt, type, orderId, userId, ...one }) => [
      markup`<a href="${bodyPath(id)}">${moment(receivedAt)}</a>`,
      one.quarantined
        ? markup`<span class="badge warn">cannot be read</span>`
        : outside(type, 60),
      orderId === null || orderId === "" ? NOTHING : orderLink(orderId),
      userId === null || userId === "" ? NOTHING : userLink(userId),
      one.bytes ?? "erased",
    ]),
  );
}
