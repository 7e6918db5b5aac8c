/** Why an order is as it is, and what was known of it at a time. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type Beside,
  type OrderContext,
  orderOf,
  type OrderState,
} from "../states/order_state.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { compareTimes } from "../events/time.ts";
import { explainOrder, type Explanation } from "../explain/explain_order.ts";
import { initialOrderFold } from "../orders/order_fold.ts";
import {
  type Driver,
  read,
  type SqlValue,
  statement,
} from "../store/database.ts";
import { selectExpected, selectRules, windowsOf } from "../projection/anew.ts";
import { WITHHELD } from "../projection/log.ts";
import type { FoldCode } from "../projection/project.ts";
import { besideOf } from "../projection/rows.ts";
import { eventsOf, msOf, selectEvents } from "../store/events.ts";
import { queryMs, readHash } from "./pages.ts";

/**
 * Explains an order by all events, or those that this ledger had learnt by a time;
 * null when none names the order.
 */
export async function readExplanation(
  { driver, assets, fold }: {
    readonly driver: Driver;
    readonly assets: AssetTable;
    readonly fold: Pick<FoldCode, "readFact">;
  },
  orderId: string,
  time: string | undefined,
): Promise<Explanation & { readonly context: OrderContext } | null> {
  const until = time === undefined
    ? null
    : new Date(queryMs("time", time)).toISOString();
  const { facts: all, unread } = await readOrderFacts(
    driver,
    orderId,
    fold.readFact,
    until ?? undefined,
  );
  const facts = all.filter(({ recordedAt }) =>
    until === null || compareTimes(recordedAt, until) <= 0
  );
  // What names no order says nothing of one alone.
  if (facts.every((fact) => isExpectation(fact) || isWitnessRule(fact))) {
    return null;
  }
  const explanation = explainOrder(orderId, facts, { assets });
  const { context, ...state } = await inContextAt(
    driver,
    explanation.state,
    until,
  );
  const leftOut = explanation.leftOut + unread;
  return { ...explanation, leftOut, state, context };
}

const MENTIONED =
  `mentions AS m CROSS JOIN events AS e ON e.position = m.position
    WHERE m.no = (SELECT no FROM orders WHERE id = ?1) AND m.position > ?2`;

/** Events that are read at once: bodies may be long. */
const STEP = 50;

/** Most webhooks of an order that are read: anybody can send another one. */
export const MOST_WEBHOOKS = 2_000;

/**
 * Reads the facts of an order, by position: the events that name it, and what the
 * partner expects of it. Of webhooks only the first {@linkcode MOST_WEBHOOKS} are
 * read; `unread` counts the others that were recorded by a time.
 */
export async function readOrderFacts(
  driver: Driver,
  orderId: string,
  readFact: FoldCode["readFact"],
  until?: string,
): Promise<{ readonly facts: readonly Fact[]; readonly unread: number }> {
  const own: Fact[] = [];
  let webhooks = 0;
  let lastWebhook = 0;
  for (let after = 0;;) {
    // Those that are not folded yet are mentioned nowhere, so that an explanation
    // ends where the state does.
    const events = await selectEvents(
      driver,
      `${MENTIONED} ${webhooks < MOST_WEBHOOKS ? "" : "AND e.kind <> 'webhook'"}
        ORDER BY m.position LIMIT ${STEP}`,
      ...[orderId, after],
    );
    for (const event of events) {
      after = event.position;
      if (event.kind === "webhook") {
        [webhooks, lastWebhook] = [webhooks + 1, after];
      }
      own.push(readFact(event));
    }
    if (events.length < STEP) break;
  }
  const windows = windowsOf(initialOrderFold(orderId), own);
  const [all, expected = [], rules = []] = await read(driver, [
    statement(
      `SELECT count(*) FROM ${MENTIONED} AND e.kind = 'webhook'
        AND e.recorded_at <= coalesce(?3, e.recorded_at)`,
      ...[orderId, lastWebhook, msOf(until)],
    ),
    selectExpected(await readHash(driver), windows, { earlier: true }),
    selectRules,
  ]);
  const joined = eventsOf([...expected, ...rules]).map(readFact)
    .filter((fact) => isExpectation(fact) || isWitnessRule(fact));
  return {
    facts: [...own, ...joined].sort((a, b) => a.position - b.position),
    unread: Number(all?.[0]?.[0] ?? 0),
  };
}

/**
 * An order with what was known besides its state: whether another order had its
 * purchase, and whether nobody was told of its release.
 */
async function inContextAt(
  driver: Driver,
  order: OrderState,
  until: string | null,
): Promise<OrderState & { readonly context: OrderContext }> {
  const untilMs = until === null ? null : Date.parse(until);
  const [any, told, log] = await read(driver, [
    statement(
      `SELECT EXISTS (SELECT 1 FROM expected AS x
        CROSS JOIN events AS e ON e.position = x.position
        WHERE ?1 IS NULL OR e.recorded_at <= ?1)`,
      untilMs,
    ),
    statement("SELECT told FROM orders WHERE id = ?", order.orderId),
    statement(
      `SELECT t.code, t.entry, t.flags, t.more ->> '$.reason'
        FROM log AS t CROSS JOIN events AS e ON e.position = t.position
        WHERE t.no = (SELECT no FROM orders WHERE id = ?)
          AND t.code LIKE 'release.%' AND e.recorded_at <= ?
        ORDER BY t.seq DESC LIMIT 1`,
      ...[order.orderId, untilMs],
    ),
  ]);
  const beside = until !== null
    ? loggedOf(log?.[0] ?? [])
    : besideOf(JSON.parse(String(told?.[0]?.[0] ?? "{}")));
  const isSettled = until === null && order.byHand !== null;
  return orderOf(
    order,
    any?.[0]?.[0] === 1,
    isSettled ? { ...beside, withheld: undefined } : beside,
  );
}

/** How an order stood beside others by the last entry of the release log. */
function loggedOf([code, entry, flags, reason]: readonly SqlValue[]): Beside {
  const status = String(code ?? "").slice("release.".length);
  const isWithheld = (Number(flags ?? 0) & WITHHELD) !== 0;
  const told = status === "restored"
    ? ["yes", 1] as const
    : [status, Number(entry)] as const;
  return {
    twice: reason === "paid_twice",
    withheld: isWithheld ? told : undefined,
  };
}
