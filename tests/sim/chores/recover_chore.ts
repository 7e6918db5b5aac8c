import { recover, type RecoverReport } from "../../../sync/mod.ts";
import { truthOf } from "../../../sandbox/mod.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import { eventsIn } from "../rules/stored.ts";
import { hasNoId, isStated } from "./odd_ones.ts";
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
  // A row may be put right while the recovery goes on, after it was read.
  const oddBefore = new Map(
    sandbox.orders().map(({ orderId }) =>
      [orderId, sandbox.oddFields(orderId)] as const
    ),
  );
  const report = await recover({
    ledger,
    client: ports.recoverClient?.(client) ?? client,
    ...window,
    now: () => world.now(),
    randomBytes: (length) => bytes.bytes(length),
  });
  if (report.complete) await hasRead(world, report, begunMs, oddBefore);
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
  { from, provenUpTo, complete }: RecoverReport,
): Promise<void> {
  const { sandbox, store } = world;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(provenUpTo)];
  const readings = await readingsIn(store, "user_snapshot");
  for (const user of sandbox.users()) {
    const { userId, createdAtMs, lkyc, fkyc, banned, country } = user;
    if (createdAtMs < fromMs || createdAtMs > untilMs) continue;
    if (hasNoId(world, userId)) {
      check(idless, !complete, () => `user ${userId} has none`);
      continue;
    }
    isAmong(world, readings, userId, {
      lkyc_status: lkyc,
      fkyc_status: fkyc,
      banned,
      country,
    });
  }
}

/** Holds that every order of a window was read as it is. */
async function hasRead(
  world: World,
  { from, provenUpTo }: RecoverReport,
  begunMs: number,
  oddBefore: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const { sandbox, store } = world;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(provenUpTo)];
  const readings = await readingsIn(store, "order_snapshot");
  for (const order of sandbox.orders()) {
    const { orderId, createdAtMs, changedAtMs } = order;
    if (createdAtMs < fromMs || createdAtMs > untilMs) continue;
    // What changes meanwhile may have been read before or after; without a date
    // our clock stands for the service's, and what appears late is no different.
    const lateMs = world.plan.attack.noDate ? 5000 : 1000;
    if (changedAtMs >= begunMs - lateMs) continue;
    check(idless, !hasNoId(world, orderId), () => `order ${orderId} has none`);
    const { status, changedAt, txId } = truthOf(order);
    const truth: Row = {
      status,
      changed_at: changedAt,
      ...(isStated(world, "txId") ? { tx_id: txId } : {}),
    };
    isAmong(world, readings, orderId, without(truth, oddBefore.get(orderId)));
  }
}

const idless = "a row without an id is proof of nothing";

/** Rows of orders or users, as the service sent them. */
type Row = Readonly<Record<string, unknown>>;

function without(row: Row, fields: readonly string[] = []): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => !fields.includes(name)),
  );
}

/** Holds that the fields that are well were read together as they are. */
function isAmong(
  world: World,
  readings: ReadonlyMap<string, readonly Row[]>,
  id: string,
  truth: Row,
): void {
  const odd = world.sandbox.oddFields(id);
  const names = Object.keys(truth).filter((name) => !odd.includes(name));
  const text = (row: Row) => names.map((name) => row[name] ?? "").join(" ");
  const read = (readings.get(id) ?? []).map(text);
  check(
    "a proven recovery has read all of its window",
    read.includes(text(truth)),
    () =>
      `${id} is ${text(truth)}, and the ledger has read ${
        read.join("; ") || "nothing"
      }`,
  );
}

/** What the ledger has read of each order or user. */
async function readingsIn(
  store: World["store"],
  kind: "order_snapshot" | "user_snapshot",
): Promise<ReadonlyMap<string, readonly Row[]>> {
  const readings = new Map<string, Row[]>();
  const found = await eventsIn({ store }, "e.kind = ?", kind);
  for (const { orderId, userId, body } of found) {
    const id = kind === "order_snapshot" ? orderId : userId;
    const row = JSON.parse(decoder.decode(body ?? new Uint8Array()));
    readings.set(String(id), [...readings.get(String(id)) ?? [], row]);
  }
  return readings;
}
