import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { nextSteps } from "../engine/order_steps.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";

/** Most rows that a page has. */
const PAGE_ROWS = 20;

/** Rows that a page may have: fewer than the limit when the fault strikes. */
export function pageRows({ injector }: SandboxEngine, limit: number): number {
  return injector.strikes("pageShort") && limit > 1
    ? injector.stream("pageShort.size").int(1, limit - 1)
    : PAGE_ROWS;
}

/** Counts a page that ended before its limit because of {@linkcode pageRows}. */
export function countShortPage(
  { counters }: SandboxEngine,
  { rows, most, limit }: { rows: number; most: number; limit: number },
): void {
  if (rows === most && most < limit) counters.pagesShort++;
}

/** The field `total` of an answer: right, wrong or missing. */
export function statedTotal(
  { injector, counters }: SandboxEngine,
  count: number,
): { total?: number } {
  const missing = injector.strikes("totalMissing");
  const wrong = injector.strikes("totalWrong");
  if (missing) {
    counters.totalsMissing++;
    return {};
  }
  if (!wrong) return { total: count };
  counters.totalsWrong++;
  const off = injector.stream("totalWrong.off").pick([-7, -1, 1, 13]);
  return { total: Math.max(0, count + off) };
}

/** Adds or changes a row right after a page was read. */
export function driftPages(
  engine: SandboxEngine,
  page: readonly SandboxOrder[],
): void {
  const { injector, counters, orders, orderCommands } = engine;
  if (injector.strikes("pageInsert")) {
    counters.pageInserts++;
    const backMs = injector.stream("pageInsert.ms").int(0, 5_000);
    orderCommands.create({}, engine.now() - backMs);
  }
  if (injector.strikes("pageChange") && page.length > 0) {
    counters.pageChanges++;
    const { orderId } = injector.stream("pageChange.pick").pick(page);
    const order = orders.get(orderId);
    const [step] = order ? nextSteps(order) : [];
    if (step && order?.status !== "success") {
      orderCommands.advance(orderId, step);
    } else orderCommands.amend(orderId, {});
  }
}
