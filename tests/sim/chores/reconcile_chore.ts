import { differences } from "../../../cli/demo/run_demo.ts";
import type { OrderState } from "../../../ledger/mod.ts";
import {
  reconcile,
  type ReconcileLedger,
  type ReconcileReport,
  type ReconcileRow,
} from "../../../sync/mod.ts";
import { truthOf } from "../../../sandbox/mod.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import { isOdd, isStated } from "./odd_ones.ts";
import { tookBack } from "./took_back.ts";
import type { World } from "../world/world.ts";

const hourMs = 3_600_000;
/** So long after its creation an order may appear, in milliseconds. */
const appearsLateMs = 5_000;

/** A person compares the ledger with the service while everything moves. */
export async function reconcileSome(
  world: World,
  { ledger, client }: Incarnation,
  dice: Dice,
): Promise<void> {
  const { ports, sandbox } = world;
  const begunMs = sandbox.now();
  // A row may be put right while the comparison goes on, after it was read.
  const oddBefore = new Set(
    sandbox.orders().map(({ orderId }) => orderId).filter((id) =>
      isOdd(world, id)
    ),
  );
  const told = new Map<string, Told>();
  const watched = watching(ledger, told);
  const report = await reconcile({
    ledger: ports.reconcileLedger?.(watched) ?? watched,
    client: ports.reconcileClient?.(client) ?? client,
    ...(dice.chance(0.5)
      ? { fromMs: world.now() - dice.int(0, 480) * hourMs }
      : {}),
    now: () => world.now(),
    assets: "sandbox",
    all: true,
  });
  for (const row of report.rows) {
    const compared = told.get(row.orderId)?.find((state) =>
      (state?.status ?? null) === row.ledgerStatus &&
      (state?.trust ?? null) === row.trust
    );
    check(
      "a comparison says what the ledger says",
      compared !== undefined,
      () => `order ${row.orderId} was never ${row.trust} ${row.ledgerStatus}`,
    );
    if (oddBefore.has(row.orderId) || isOdd(world, row.orderId)) continue;
    rowHolds(world, row, compared ?? null, begunMs);
  }
  reportHolds(world, report, begunMs, oddBefore);
}

/** What a ledger said of one order, each time it was asked. */
type Told = (OrderState | null)[];

/** A ledger that remembers what it told of each order. */
function watching(
  ledger: ReconcileLedger,
  told: Map<string, Told>,
): ReconcileLedger {
  const tell = (id: string, state: OrderState | null) => {
    told.set(id, [...told.get(id) ?? [], state]);
    return state;
  };
  return {
    driver: ledger.driver,
    project: (options) => ledger.project(options),
    orders: {
      get: async (id) => tell(id, await ledger.orders.get(id)),
      async *list(query) {
        for await (const order of ledger.orders.list(query)) {
          tell(order.orderId, order);
          yield order;
        }
      },
    },
  };
}

function rowHolds(
  world: World,
  row: ReconcileRow,
  ledger: OrderState | null,
  begunMs: number,
): void {
  const { sandbox } = world;
  const { orderId, category, serviceStatus } = row;
  const order = sandbox.order(orderId);
  const holds = (truth: boolean, says: string) =>
    check(
      "a comparison is right about each order",
      truth,
      () => `${category} for order ${orderId}, although ${says}`,
    );
  holds(
    (category === "absent") === (order === null),
    order === null ? "the service has none" : "the service has it",
  );
  if (order === null) return;
  const statuses = [order.status, ...order.history.map((one) => one.status)];
  holds(
    statuses.some((one) => one.toLowerCase() === serviceStatus),
    `the service never said ${serviceStatus}`,
  );
  if (order.changedAtMs >= begunMs - 1000) return;
  const apart = differences(
    [truthOf(order)],
    new Map(ledger === null ? [] : [[orderId, ledger]]),
  ).filter(({ field }) => field !== "changedAt" && isStated(world, field));
  const words = apart.map(({ field }) => field).join(", ") || "nothing";
  if (category === "agree") holds(apart.length === 0, `apart are ${words}`);
  if (category === "behind") holds(apart.length > 0, "nothing is apart");
  if (category === "final_changed") {
    holds(tookBack(world, orderId), "the service took no final status back");
  }
  if (category === "claimed_only") {
    holds(ledger?.trust === "claimed", `the ledger is ${ledger?.trust}`);
  }
}

function reportHolds(
  world: World,
  report: ReconcileReport,
  begunMs: number,
  oddBefore: ReadonlySet<string>,
): void {
  const { sandbox, plan } = world;
  const { rows, orders, counts, disagreements, from, provenUpTo } = report;
  const { agree, claimed_only, behind, final_changed, contradicted, absent } =
    counts;
  check(
    "a comparison adds up",
    rows.length === orders &&
      agree + claimed_only + behind + final_changed + contradicted + absent ===
        orders &&
      rows.filter(({ disagrees }) => disagrees).length === disagreements,
    () => JSON.stringify({ ...report, rows: rows.length }),
  );
  if (!report.complete) return;
  const compared = new Set(rows.map(({ orderId }) => orderId));
  const [fromMs, provenMs] = [Date.parse(from), Date.parse(provenUpTo)];
  // Without a date our clock stands for the service's, which may be behind by
  // more than the time that rows take to appear.
  const untilMs = plan.attack.noDate
    ? Math.min(provenMs, begunMs - appearsLateMs)
    : provenMs;
  for (const { orderId, createdAtMs, changedAtMs } of sandbox.orders()) {
    if (createdAtMs <= fromMs || createdAtMs > untilMs) continue;
    check(
      "a proven comparison has seen all of its window",
      compared.has(orderId) || changedAtMs >= begunMs ||
        oddBefore.has(orderId) || isOdd(world, orderId),
      () => `order ${orderId} is missing`,
    );
  }
}
