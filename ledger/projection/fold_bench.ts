// How fast events fold, beside reading and JSON-parsing the same bodies.
import type { RecordedEvent } from "../events/event.ts";
import { orderRead, orderWebhook, USER } from "../testing/given_facts.ts";
import { decodeOrderFold, encodeOrderFold } from "./codec/fold_codec.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import { readFact } from "../events/read_fact.ts";
import { orderState } from "../states/state_of_order.ts";

const orders = 1_000;
const events: RecordedEvent[] = [];
const user = {
  hpp_session_id: "3f1c7c1e-9f0e-4f7e-9a43-2d9a3a1c1c1c",
  user: {
    user_id: USER,
    verification_status: {
      fkyc: { state: "not initiated" },
      lkyc: { state: "success" },
    },
  },
};
for (let order = 0; order < orders; order++) {
  const id = `01HZORDER${String(order).padStart(8, "0")}`;
  const tx = `0x${String(order).padStart(64, "0")}`;
  for (
    const event of [
      orderWebhook(1, "payment_started", { id }, user),
      orderRead(2, "progress", 2),
      orderWebhook(3, "transfer_started", { id, transaction_id: tx }, user),
      orderWebhook(4, "order_complete", { id, transaction_id: tx }, user),
      orderRead(5, "success", 4, { tx_id: tx }),
    ]
  ) events.push({ ...event, orderId: id });
}
const facts = events.map(readFact);
const folds = new Map<string, OrderFold>();
for (const fact of facts) {
  const id = fact.orderId ?? "";
  folds.set(id, evolveOrder(folds.get(id) ?? initialOrderFold(id), fact));
}
const decoder = new TextDecoder();

Deno.bench("decode and JSON.parse 5,000 bodies", { baseline: true }, () => {
  for (const event of events) {
    if (event.body !== null) JSON.parse(decoder.decode(event.body));
  }
});

Deno.bench("readFact() of 5,000 events", () => {
  for (const event of events) readFact(event);
});

Deno.bench("evolveOrder() and decideOrderStatus() of 5,000 facts", () => {
  const known = new Map<string, OrderFold>();
  for (const fact of facts) {
    const id = fact.orderId ?? "";
    const fold = evolveOrder(known.get(id) ?? initialOrderFold(id), fact);
    decideOrderStatus(fold);
    known.set(id, fold);
  }
});

Deno.bench("encodeOrderFold() of 1,000 orders", () => {
  for (const fold of folds.values()) encodeOrderFold(fold);
});

Deno.bench("orderState() of 1,000 orders", () => {
  for (const fold of folds.values()) orderState(fold);
});

Deno.bench("all of it for 5,000 events of 1,000 orders", () => {
  const known = new Map<string, OrderFold>();
  for (const event of events) {
    const fact = readFact(event);
    const id = fact.orderId ?? "";
    const fold = evolveOrder(known.get(id) ?? initialOrderFold(id), fact);
    decideOrderStatus(fold);
    known.set(id, fold);
  }
  for (const fold of known.values()) {
    encodeOrderFold(fold);
    orderState(fold);
  }
});

const encoded = [...folds.values()].map((fold) => encodeOrderFold(fold));

Deno.bench("decodeOrderFold() of 1,000 orders", () => {
  for (const text of encoded) decodeOrderFold(text);
});
