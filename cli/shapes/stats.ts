import * as z from "zod";
import type { EventKind } from "../../ledger/events/event.ts";
import type { Stats } from "../../ledger/mod.ts";
import { count, each, ms, named, text, textOrNull } from "./_building.ts";
import type { Same } from "./_same.ts";

/** Deliveries that were answered and wait to go into the ledger. */
export const waitingSchema = z.object({ count, oldestMs: ms, ended: count });

/** How much the ledger holds. */
export const statsSchema = named(
  "LedgerStats",
  "How much the ledger holds, and how far it is folded and chained",
  z.object({
    events: each<EventKind, typeof count>({
      webhook: true,
      order_snapshot: true,
      user_snapshot: true,
      order_absent: true,
      order_contradicted: true,
      session_created: true,
      delivery_unanswered: true,
      order_redacted: true,
      month_closed: true,
    }, count),
    quarantined: count,
    orders: count,
    users: count,
    position: count,
    lag: count,
    waiting: waitingSchema.nullable(),
    chain: z.object({
      count,
      hash: text,
      position: count,
      broken: textOrNull,
    }),
  }),
);

true satisfies Same<z.infer<typeof statsSchema>, Stats>;
