import type { NewEvent } from "../event/event.ts";
import { orderContradicted } from "../event/mint.ts";
import { normaliseStatus } from "../fold/order_rank.ts";
import { appendStatement } from "../store/append.ts";
import { askAgainAfterMs } from "./age_backoff.ts";
import { askById, type Asked, isAskable } from "./ask_by_id.ts";
import { contradictions } from "./contradiction.ts";
import { type OpenOrder, readOpenOrders } from "./open_orders.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import type { Sweep, SweepContext } from "./sweep.ts";

/** Open orders looked at together. */
const lookAtOnce = 500;

/** How to sweep the open orders. */
export interface OpenSweepOptions {
  /** Asks for all of them, whatever their age. */
  readonly all: boolean;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
}

/**
 * Asks for every order that is not final, not confirmed, or contested, the
 * less often the longer it has been still; and records a contradiction where
 * the service has not agreed with a claim for ten minutes.
 *
 * @param context What to work with.
 * @param options How to sweep.
 *
 * @example Run it to its end
 * ```ts ignore
 * for await (const requests of sweepOpen(context, options)) count += requests;
 * ```
 */
export async function* sweepOpen(
  context: SweepContext,
  options: OpenSweepOptions,
): Sweep {
  let after = "";
  for (;;) {
    const open = await readOpenOrders(context.driver, after, lookAtOnce);
    const last = open.at(-1);
    if (last === undefined) return;
    after = last.orderId;
    const due = open.filter((order) =>
      isAskable(order.orderId) && (options.all || isDue(order, context.now()))
    );
    for (let at = 0; at < due.length; at += ITEMS_PER_REQUEST) {
      const some = due.slice(at, at + ITEMS_PER_REQUEST);
      const ids = some.map(({ orderId }) => orderId);
      yield* askById(context, "order", ids, (asked) => {
        const events = some.flatMap((order) =>
          contradictionsOf(context, options, order, asked)
        );
        if (events.length === 0) return [];
        context.onRead({ orders: 0, users: 0, appended: events.length });
        return [appendStatement(events)];
      });
    }
  }
}

/** Whether it is time to ask for an order again. */
function isDue({ fold, askedAt }: OpenOrder, nowMs: number): boolean {
  if (askedAt === null) return true;
  const movedMs = [
    fold.latest?.changedAt ?? "",
    ...fold.claims.map((claim) => claim.lastAt),
  ].map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  const stillMs = nowMs - Math.max(...movedMs, 0);
  return nowMs - Date.parse(askedAt) >= askAgainAfterMs(stillMs);
}

function contradictionsOf(
  context: SweepContext,
  options: OpenSweepOptions,
  { orderId, fold }: OpenOrder,
  asked: Asked,
): NewEvent[] {
  const shown = asked.shown.get(orderId);
  if (shown === undefined && !asked.exhausted) return [];
  const status = shown === undefined || shown === null
    ? null
    : normaliseStatus(shown);
  const answer = { status, askedAtMs: asked.askedAtMs };
  return contradictions(fold, answer).map((found) =>
    orderContradicted({
      orderId,
      status: found.status,
      upTo: found.upTo,
      readAt: asked.readAt,
      recordedAt: new Date(context.now()).toISOString(),
      salt: options.randomBytes(16),
    })
  );
}
