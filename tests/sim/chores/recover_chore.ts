import { recover, type RecoverReport } from "../../../ledger/mod.ts";
import { truthOf } from "../../../sandbox/engine/truth.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import { hasNoId, isOdd, isStated } from "./odd_ones.ts";
import type { World } from "../world/world.ts";

const hourMs = 3_600_000;
const decoder = new TextDecoder();

/** A person reads a stretch of the past again. */
export async function recoverSome(
  world: World,
  incarnation: Incarnation,
  dice: Dice,
): Promise<void> {
  const toMs = world.now() - dice.int(0, 10 * 60_000);
  const fromMs = toMs - dice.int(0, dice.chance(0.3) ? 480 : 12) * hourMs;
  await recoverWindow(world, incarnation, { fromMs, toMs });
}

/**
 * Recovers a window, and holds what it promises: with the proof, the ledger
 * has read every order of the window as it is.
 *
 * @throws {Broken} When it has not.
 */
export async function recoverWindow(
  world: World,
  { ledger, client }: Incarnation,
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<RecoverReport> {
  const { clock, ports, dice, sandbox } = world;
  const bytes = dice.fork(`recovery at ${clock.now()}`);
  const begunMs = sandbox.now();
  const report = await recover({
    ledger,
    client: ports.recoverClient?.(client) ?? client,
    ...window,
    now: () => world.now(),
    randomBytes: (length) => bytes.bytes(length),
  });
  if (report.complete) await hasRead(world, report, begunMs);
  return report;
}

/**
 * Holds that every user of a window was read as it is. Users state no time of
 * change, so that this can be told only while nothing changes.
 *
 * @throws {Broken} When one was not.
 */
export async function hasReadUsers(
  world: World,
  { from, provenUpTo }: RecoverReport,
): Promise<void> {
  const { sandbox, store } = world;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(provenUpTo)];
  const readings = await readingsIn(
    store,
    "user_snapshot",
    (user) =>
      [user.lkyc_status, user.fkyc_status, user.banned, user.country].join(" "),
  );
  for (const user of sandbox.users()) {
    const { userId, createdAtMs, lkyc, fkyc, banned, country } = user;
    if (createdAtMs < fromMs || createdAtMs > untilMs) continue;
    if (isOdd(world, userId)) continue;
    isAmong(readings, userId, [lkyc, fkyc, banned, country].join(" "));
  }
}

/** Holds that every order of a window was read as it is. */
async function hasRead(
  world: World,
  { from, provenUpTo }: RecoverReport,
  begunMs: number,
): Promise<void> {
  const { sandbox, store } = world;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(provenUpTo)];
  const readings = await readingsIn(
    store,
    "order_snapshot",
    (order) => [order.status, order.changed_at, order.tx_id ?? ""].join(" "),
  );
  for (const order of sandbox.orders()) {
    const { orderId, createdAtMs, changedAtMs } = order;
    if (createdAtMs < fromMs || createdAtMs > untilMs) continue;
    // What changes meanwhile may have been read before or after.
    if (changedAtMs >= begunMs - 1000) continue;
    check(
      "a row without an id is proof of nothing",
      !hasNoId(world, orderId),
      () => `order ${orderId} has none, and its window is proven`,
    );
    if (isOdd(world, orderId)) continue;
    const { status, changedAt, txId } = truthOf(order);
    const stated = isStated(world, "txId") ? txId : "";
    isAmong(readings, orderId, [status, changedAt, stated].join(" "));
  }
}

type Readings = ReadonlyMap<string, ReadonlySet<string>>;

function isAmong(readings: Readings, id: string, truth: string): void {
  check(
    "a proven recovery has read all of its window",
    readings.get(id)?.has(truth) === true,
    () =>
      `${id} is ${truth}, and the ledger has read ${
        [...readings.get(id) ?? []].join("; ") || "nothing"
      }`,
  );
}

/** What the ledger has read of each order or user. */
async function readingsIn(
  store: World["store"],
  kind: "order_snapshot" | "user_snapshot",
  keyOf: (body: Readonly<Record<string, unknown>>) => string,
): Promise<Readings> {
  const [found] = await store.batch([{
    sql: "SELECT coalesce(order_id, user_id), body FROM events WHERE kind = ?",
    args: [kind],
  }], "read");
  const readings = new Map<string, Set<string>>();
  for (const [id, body] of found?.rows ?? []) {
    const key = keyOf(JSON.parse(decoder.decode(body as Uint8Array)));
    readings.set(String(id), (readings.get(String(id)) ?? new Set()).add(key));
  }
  return readings;
}
