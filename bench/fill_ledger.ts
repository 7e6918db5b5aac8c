import { orderSnapshot } from "../ledger/for_sync.ts";
import type { Ledger } from "../ledger/mod.ts";
import type { OrderTimes } from "./bodies.ts";
import { events } from "./events.ts";

/** Events of one append. */
const batch = 2_000;
const start = Date.UTC(2026, 0, 1);
const salt = new Uint8Array(16).fill(7);

/** Appends `count` events, from the number `first` on. */
export async function fillLedger(
  ledger: Ledger,
  { count, first = 0 }: { readonly count: number; readonly first?: number },
): Promise<void> {
  for (let at = first; at < first + count; at += batch) {
    await ledger.append(events(Math.min(batch, first + count - at), at));
  }
}

/**
 * Appends the first reading of each of `count` orders, from the number `first`
 * on: one a second, from the beginning of 2026.
 *
 * @param bodyOf What the service says of an order.
 */
export async function fillOrders(
  ledger: Ledger,
  { count, first = 0, bodyOf }: {
    readonly count: number;
    readonly first?: number;
    readonly bodyOf: (order: number, times: OrderTimes) => string;
  },
): Promise<void> {
  for (let at = first; at < first + count; at += batch) {
    await ledger.append(
      Array.from(
        { length: Math.min(batch, first + count - at) },
        (_, index) => {
          const order = at + index;
          const changedMs = start + order * 1000;
          const recordedAt = new Date(changedMs).toISOString();
          return orderSnapshot({
            source: bodyOf(order, { createdMs: changedMs - 60_000, changedMs }),
            readAt: recordedAt,
            recordedAt,
            salt,
          });
        },
      ),
    );
  }
}
