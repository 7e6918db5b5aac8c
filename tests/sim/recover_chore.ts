import { recover, type RecoverReport } from "../../ledger/mod.ts";
import type { OrderTruth } from "../../sandbox/mod.ts";
import { truthOf } from "../../sandbox/truth.ts";
import type { Dice } from "./dice.ts";
import type { Incarnation } from "./incarnation.ts";
import { check } from "./journal.ts";
import type { World } from "./world.ts";

const hourMs = 3_600_000;

/** A person reads a stretch of the past again. */
export async function recoverSome(
  world: World,
  incarnation: Incarnation,
  dice: Dice,
): Promise<void> {
  const toMs = world.clock.now() - dice.int(0, 10 * 60_000);
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
    now: () => clock.now(),
    randomBytes: (length) => bytes.bytes(length),
  });
  if (report.complete) await hasRead(world, report, begunMs);
  return report;
}

async function hasRead(
  { sandbox, store }: World,
  { from, provenUpTo }: RecoverReport,
  begunMs: number,
): Promise<void> {
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(provenUpTo)];
  const readings = await readingsIn(store);
  for (const order of sandbox.orders()) {
    const { orderId, createdAtMs, changedAtMs } = order;
    if (createdAtMs < fromMs || createdAtMs > untilMs) continue;
    // What changes meanwhile may have been read before or after.
    if (changedAtMs >= begunMs - 1000) continue;
    check(
      "a proven recovery has read all of its window",
      readings.get(orderId)?.has(keyOf(truthOf(order))) === true,
      () =>
        `order ${orderId} is ${order.status} since ${
          truthOf(order).changedAt
        }, and the ledger has read ${
          [...readings.get(orderId) ?? []].join("; ") || "nothing"
        }`,
    );
  }
}

/** What the ledger has read of each order. */
async function readingsIn(
  store: World["store"],
): Promise<Map<string, Set<string>>> {
  const [found] = await store.batch([{
    sql: "SELECT order_id, body FROM events WHERE kind = 'order_snapshot'",
    args: [],
  }], "read");
  const readings = new Map<string, Set<string>>();
  for (const [id, body] of found?.rows ?? []) {
    const order = JSON.parse(new TextDecoder().decode(body as Uint8Array));
    const keys = readings.get(String(id)) ?? new Set();
    keys.add(keyOf({
      status: order.status,
      changedAt: order.changed_at,
      txId: order.tx_id ?? "",
    }));
    readings.set(String(id), keys);
  }
  return readings;
}

function keyOf(
  { status, changedAt, txId }: Pick<
    OrderTruth,
    "status" | "changedAt" | "txId"
  >,
): string {
  return `${status} ${changedAt} ${txId}`;
}
