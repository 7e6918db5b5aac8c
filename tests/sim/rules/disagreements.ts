import { type Difference, differences } from "../../../cli/demo/run_demo.ts";
import type { Anomaly, OrderState, UserState } from "../../../ledger/mod.ts";
import { ownClickId } from "../chores/forger.ts";
import {
  hasOddReading,
  isExcused,
  isExcusedUser,
  missingAnomalies,
  staleAnomalies,
} from "../chores/odd_ones.ts";
import { ordersIn, usersIn } from "./stored.ts";
import { areClocksTrue } from "./true_clocks.ts";
import { clickOfCrowd, type World } from "../world/world.ts";

/** Where the ledger and the service say different things. */
export async function disagreements(world: World): Promise<string[]> {
  const { sandbox } = world;
  const orders = await ordersIn(world);
  const wrong: string[] = [];
  for (const order of orders.values()) {
    if (sandbox.order(order.orderId) !== null) continue;
    orders.delete(order.orderId);
    const { trust, status, orderId } = order;
    // An id that cannot be asked for stays what a forger said of it.
    if (orderId.includes(",") || sandbox.refuses(orderId)) continue;
    // Asked for as an order, it shows one page of others, and never an end.
    if (orderId === clickOfCrowd && trust === "claimed") continue;
    const absent = order.anomalies.some(({ kind }) => kind === "absent");
    if (trust === "claimed" && status === "created" && absent) continue;
    wrong.push(`order ${orderId}, which is not there: ${trust} ${status}`);
  }
  for (
    const one of [
      ...differences(sandbox.truth(), orders),
      ...otherClickIds(world, orders),
    ]
  ) {
    const state = orders.get(one.orderId) ?? null;
    if (isExcused(world, one.orderId, one.field, state)) continue;
    wrong.push(
      `${one.field} of order ${one.orderId}: ${one.ledger}, not ${one.service}`,
    );
  }
  for (const state of orders.values()) {
    const { orderId, confirmed, anomalies } = state;
    if (confirmed === null) continue;
    const odd = hasOddReading(state) ? "still counts" : "is over";
    wrong.push(
      ...wrongAnomalies(world, `order ${orderId}`, orderId, anomalies, odd),
    );
  }
  wrong.push(...wrongSessions(world, orders));
  const users = await usersIn(world);
  for (const user of sandbox.users()) {
    const known = users.get(user.userId);
    const { lkyc, fkyc, banned, country } = user;
    const said = { lkyc, fkyc, banned, country, trust: "confirmed" };
    const says = {
      lkyc: known?.verification.lkyc,
      fkyc: known?.verification.fkyc,
      banned: known?.banned,
      country: known?.country,
      trust: known?.trust,
    };
    for (
      const field of ["lkyc", "fkyc", "banned", "country", "trust"] as const
    ) {
      if (said[field] === says[field]) continue;
      if (isExcusedUser(world, user.userId, field)) continue;
      wrong.push(
        `${field} of user ${user.userId}: ${says[field]}, not ${said[field]}`,
      );
    }
  }
  for (const { userId, anomalies } of users.values()) {
    if (sandbox.user(userId) === null) continue;
    wrong.push(...wrongAnomalies(world, `user ${userId}`, userId, anomalies));
  }
  return wrong;
}

/** Click ids that the ledger has otherwise than the service. */
function otherClickIds(
  { sandbox }: World,
  orders: ReadonlyMap<string, OrderState>,
): Difference[] {
  return sandbox.orders().flatMap(({ orderId, clickId }) => {
    const ledger = orders.get(orderId)?.clickId ?? null;
    return (clickId || null) === ledger
      ? []
      : { orderId, field: "clickId", service: clickId, ledger };
  });
}

/** What its state tells, and should not; and what it should tell. */
function wrongAnomalies(
  world: World,
  what: string,
  id: string,
  anomalies: readonly Anomaly[],
  odd: "is over" | "still counts" = "is over",
): string[] {
  const missing = missingAnomalies(world, id, anomalies);
  const old = odd === "is over" ? staleAnomalies(world, id, anomalies) : [];
  return [
    ...(missing.length === 0
      ? []
      : [`odd fields of ${what} not told: ${missing.join()}`]),
    ...(old.length === 0
      ? []
      : [`fields of ${what} still told as odd: ${old.join()}`]),
  ];
}

/** Orders that lost the only session under their click id, by whose word ever. */
function wrongSessions(
  world: World,
  orders: ReadonlyMap<string, OrderState>,
): string[] {
  const { sandbox, journal } = world;
  if (!areClocksTrue(world)) return [];
  const wrong: string[] = [];
  for (const [sessionId, { orderId, clickId, soon }] of journal.sessions) {
    if (!soon || !clickId.startsWith(ownClickId)) continue;
    const odd = sandbox.oddFields(orderId);
    const state = orders.get(orderId);
    if (odd.includes("order_id") || odd.includes("click_id")) continue;
    const expected = state?.expected ?? null;
    if (expected?.sessionId === sessionId) continue;
    // Readings without a status are compared with nothing.
    if (odd.includes("status") && expected === null) continue;
    wrong.push(
      `session of order ${orderId}: ${expected?.sessionId}, not ${sessionId}`,
    );
  }
  return wrong;
}

/** What the ledger says of an order; null when nothing. */
export async function orderOf(
  world: World,
  orderId: string,
): Promise<OrderState | null> {
  return (await ordersIn(world, "id = ?", orderId)).get(orderId) ?? null;
}

/** What the ledger says of a user; null when nothing. */
export async function userOf(
  world: World,
  userId: string,
): Promise<UserState | null> {
  return (await usersIn(world, "id = ?", userId)).get(userId) ?? null;
}
