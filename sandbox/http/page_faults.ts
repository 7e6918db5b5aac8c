import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { nextSteps } from "../engine/order_steps.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import { answer } from "./answer.ts";

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

/** The answer that refuses a search for one of these ids, or null. */
export function refuseIds(
  { injector, counters }: SandboxEngine,
  ids: ReadonlySet<string> | null,
): Response | null {
  for (const id of ids ?? []) {
    if (!injector.strikesId("refusedId", id)) continue;
    counters.refusedIds++;
    return refusedWith(injector.ofId("refusedId.how", id).int(0, 3));
  }
  return null;
}

function refusedWith(how: number): Response {
  switch (how) {
    case 0:
      return answer(403, { message: "forbidden" });
    case 1:
      return answer(400, { message: "invalid request" });
    case 2:
      return answer(500, { message: "internal server error" });
    default:
      return new Response("<html><body>Request blocked</body></html>", {
        status: 403,
        headers: { "content-type": "text/html" },
      });
  }
}

const HOUR_MS = 3_600_000;

/** The `Date` header of an answer, right or wrong. */
export function statedDate(engine: SandboxEngine): string {
  const { injector, counters } = engine;
  const nowMs = engine.now();
  if (!injector.strikes("wrongDate")) return new Date(nowMs).toUTCString();
  counters.wrongDates++;
  const random = injector.stream("wrongDate.ms");
  const wrongMs = random.pick([
    Date.UTC(2099, 0, 1),
    Date.UTC(1970, 0, 2),
    nowMs + random.int(1, 14) * HOUR_MS,
    nowMs - random.int(1, 14) * HOUR_MS,
  ]);
  return new Date(wrongMs).toUTCString();
}
