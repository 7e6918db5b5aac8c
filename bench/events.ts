import type { NewEvent } from "../ledger/mod.ts";
import { orderSnapshot } from "../ledger/for_sync.ts";
import { webhookEvent } from "../ledger/testing/mod.ts";
import { digits, orderBody, webhookBody } from "./bodies.ts";

const utf8 = new TextEncoder();
const salt = new Uint8Array(16).fill(7);
const start = Date.UTC(2026, 0, 1);
const types = ["payment_started", "transfer_started", "order_complete"];

/**
 * `count` events from the number `first` on: each order has three webhooks and
 * four readings, and the lives of fifty orders overlap, as on a busy day. The
 * same numbers give the same events.
 */
export function events(count: number, first = 0): NewEvent[] {
  return Array.from({ length: count }, (_, index) => event(first + index));
}

/** A delivery whose body has never been seen before. */
export function delivery(number: number): {
  readonly id: string;
  readonly receivedAt: string;
  readonly body: Uint8Array;
} {
  return {
    id: `01JABC${digits(number, 20)}`,
    receivedAt: new Date(start + number).toISOString(),
    body: utf8.encode(webhookBody(number, "order_complete")),
  };
}

function event(number: number): NewEvent {
  const overlapping = 50;
  const eventsOfOrder = 7;
  const block = Math.floor(number / (overlapping * eventsOfOrder));
  const within = number % (overlapping * eventsOfOrder);
  const order = block * overlapping + within % overlapping;
  const step = Math.floor(within / overlapping);
  const recordedMs = start + number * 10;
  const recordedAt = new Date(recordedMs).toISOString();
  const type = types[step >> 1];
  return step % 2 === 1 && type !== undefined
    ? webhookEvent({
      id: `01JABC${digits(number, 20)}`,
      receivedAt: recordedAt,
      body: utf8.encode(webhookBody(order, type)),
    }, salt)
    : orderSnapshot({
      // Times that the reading can have seen: later ones would count as odd.
      source: orderBody(order, step >> 1, {
        createdMs: recordedMs - step * overlapping * 10,
        changedMs: recordedMs,
      }),
      readAt: recordedAt,
      recordedAt,
      salt,
    });
}
