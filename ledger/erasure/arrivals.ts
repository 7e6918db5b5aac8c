import { readPrimary } from "../store/driver/read_primary.ts";
import { hex } from "@scure/base";
import type { Fact } from "../events/fact.ts";
import type { BatchEvent } from "../projection/batch.ts";
import { appendStatement } from "../store/append.ts";
import type { Driver } from "../store/driver/driver.ts";
import { expectNoRow } from "../store/driver/expect_row.ts";
import { blankEvents } from "../store/tables/erasure/blanked_events.ts";
import {
  erasableEvents,
  selectErasableAt,
} from "../store/tables/erasure/erasable_events.ts";
import {
  type ErasedOrder,
  erasedOrders,
  insertErasedOrders,
  insertReturnedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import { markReturned } from "../store/tables/erasure/hidden_names.ts";
import { type ErasedNames, readErasedNames } from "./erased_names.ts";
import { redactEvents } from "./redact_events.ts";

/**
 * Redacts events that arrived since an erasure and are about what was erased,
 * before they are folded. A session, or an order that was created later, is new
 * business: from then on the user counts as returned.
 *
 * @param events Events that are about to be folded.
 * @param randomBytes Random bytes for ids and salts.
 * @returns Whether any was redacted: then they have to be read again.
 */
export async function redactArrivals(
  driver: Driver,
  events: readonly BatchEvent[],
  randomBytes: (length: number) => Uint8Array,
): Promise<boolean> {
  const arrivals = events.map(({ fact }) => arrivalOf(fact));
  const orderIds = arrivals.flatMap(({ orderId }) => orderId ?? []);
  const [rows] = await readPrimary(driver, [
    selectErasedOrders([...new Set(orderIds)]),
  ]);
  const orders = erasedOrders(rows);
  const users = await readErasedNames(
    driver,
    "user",
    arrivals.flatMap(({ userId }) => userId ?? []),
  );
  const clicks = await readErasedNames(
    driver,
    "click",
    arrivals.flatMap(({ clickId, orderId, userId }) =>
      orderId === null && userId === null ? clickId ?? [] : []
    ),
  );
  if (orders.size === 0 && users.size === 0 && clicks.size === 0) return false;
  const returned = new Set<string>();
  const positions: number[] = [];
  const newOrders = new Map<string, ErasedOrder>();
  const returnedOrders: string[] = [];
  for (const arrival of arrivals) {
    const decided = decide(arrival, { orders, users, clicks, returned });
    const { orderId, userId, position } = arrival;
    if (decided === "returns" && userId !== null) {
      returned.add(userId);
      if (orderId !== null) returnedOrders.push(orderId);
    }
    if (decided !== "erased") continue;
    positions.push(position);
    if (arrival.isReading && orderId !== null && !orders.has(orderId)) {
      newOrders.set(orderId, {
        orderId,
        userId: `erased-${hex.encode(randomBytes(10))}`,
        clickId: null,
        differs: false,
        erasedAt: users.get(userId ?? "")?.erasedAt ?? arrival.recordedAt,
      });
    }
  }
  const at = arrivals[0]?.recordedAt ?? "";
  const notes = [
    ...markReturned(
      [...returned].flatMap((userId) => users.get(userId)?.hash ?? []),
      at,
    ),
    ...(returnedOrders.length === 0
      ? []
      : [insertReturnedOrders(returnedOrders, at)]),
    ...(newOrders.size === 0
      ? []
      : [insertErasedOrders([...newOrders.values()])]),
  ];
  const [found] = await driver.batch([selectErasableAt(positions)], "write");
  const redacted = redactEvents(
    erasableEvents(found).filter(({ erased }) => erased === null),
    {
      part: "identity",
      randomBytes,
      names: ({ orderId }) =>
        orders.get(orderId ?? "") ?? newOrders.get(orderId ?? "") ??
          { userId: null, clickId: null },
      isErased: (userId) => users.has(userId),
      differs: (orderId) => orders.get(orderId)?.differs === true,
    },
  );
  const kept = redacted.flatMap((one) => one.kept ?? []);
  const statements = [
    // Another process may be doing the same.
    ...redacted.map(({ blanked: { position } }) =>
      expectNoRow("erasures", { position })
    ),
    ...notes,
    ...(redacted.length === 0 ? [] : blankEvents(redacted)),
    ...(kept.length === 0 ? [] : [appendStatement(kept)]),
  ];
  if (statements.length > 0) await driver.batch(statements, "write");
  return redacted.length > 0;
}

/** What of a fact decides whether it is redacted. */
interface Arrival {
  readonly position: number;
  readonly recordedAt: string;
  readonly orderId: string | null;
  readonly userId: string | null;
  readonly clickId: string | null;
  readonly isReading: boolean;
  readonly isSession: boolean;
  /** When the service created the order; empty where it does not say. */
  readonly createdAt: string;
}

function arrivalOf(fact: Fact): Arrival {
  const { position, recordedAt, orderId, clickId } = fact;
  const isRedacted = fact.label === "order_redacted";
  const isReading = fact.kind === "order_snapshot" && !isRedacted;
  const isSession = fact.kind === "session_created";
  const saysNothing = isRedacted || fact.kind === "order_absent" ||
    fact.kind === "order_contradicted" || fact.digest === "";
  const none = { orderId: null, userId: null, clickId: null };
  return {
    position,
    recordedAt,
    ...(saysNothing ? none : {
      orderId,
      userId: isReading
        ? fact.reading.userId
        : isSession
        ? fact.asked.userId
        : fact.userId,
      clickId,
    }),
    isReading,
    isSession,
    createdAt: isReading ? fact.reading.createdAt : "",
  };
}

/** Whether it is about what was erased, or about new business. */
function decide(
  arrival: Arrival,
  known: {
    readonly orders: ReadonlyMap<string, ErasedOrder>;
    readonly users: ErasedNames;
    readonly clicks: ErasedNames;
    readonly returned: ReadonlySet<string>;
  },
): "erased" | "returns" | "stays" {
  const { orderId, userId, clickId } = arrival;
  if (orderId !== null && known.orders.has(orderId)) return "erased";
  const user = known.users.get(userId ?? "");
  if (user !== undefined && userId !== null) {
    const time = arrival.isReading ? arrival.createdAt : arrival.recordedAt;
    if (arrival.isReading || arrival.isSession) {
      return time > user.erasedAt ? "returns" : "erased";
    }
    const isBack = user.returnedAt !== null || known.returned.has(userId);
    return isBack && arrival.recordedAt > user.erasedAt ? "stays" : "erased";
  }
  return clickId !== null && known.clicks.has(clickId) ? "erased" : "stays";
}
