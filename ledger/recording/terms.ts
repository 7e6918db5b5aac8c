/** What may be recorded: terms of a click id that is free, and rules of the witness. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import {
  askedAtOf,
  type Expectation,
  purchaseKey,
  purchaseOf,
  validUntil,
} from "../events/expectation.ts";
import type { NewEvent } from "../events/event.ts";
import { isExpectation, isWitnessRule } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import { nextSecond } from "../events/witness_rule.ts";
import { sameAmount } from "../orders/compare.ts";
import { WitnessRules } from "../orders/expectations.ts";
import { ExpectationError } from "../expectations/expectation_body.ts";
import type { Driver } from "../store/driver/driver.ts";
import { readGuard } from "../projection/guard.ts";
import { orderRows, orderView, selectRows } from "../projection/rows.ts";
import type { LookupHash } from "../projection/lookup_hash.ts";
import { readDeciding, statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, msOf, readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";

/**
 * Refuses terms that would change nothing, or mean two purchases at once.
 *
 * @throws {ExpectationError} `click_id_in_use`, `purchase_paid`.
 */
export async function refuseTerms(
  driver: Driver,
  event: NewEvent,
  assets: AssetTable,
): Promise<void> {
  const fact = readFact({ ...event, position: 0 });
  if (!isExpectation(fact)) return;
  const { hash } = await readGuard(driver);
  await refuseClickInUse(driver, fact.expectation, hash);
  await refuseTermsOfPaid(driver, fact.expectation, { hash, assets });
}

/** Of one click id that is still valid for another reference. */
async function refuseClickInUse(
  driver: Driver,
  expectation: Expectation,
  hash: LookupHash,
): Promise<void> {
  const { clickId, reference } = expectation;
  if (clickId === null) return;
  const from = askedAtOf(expectation);
  const until = validUntil(expectation);
  const [folded = [], unfolded = []] = await readDeciding(driver, [
    statement(
      `SELECT ${EVENT_COLUMNS} FROM expected AS x
        CROSS JOIN events AS e ON e.position = x.position
        WHERE x.click = ?1 AND x.valid_until >= ?2 AND x.asked_at <= ?3
          AND x.reference IS NOT ?4
        ORDER BY x.valid_until LIMIT 1`,
      ...[hash.of("asked_click", clickId), msOf(from) ?? 0, msOf(until) ?? 0],
      reference === null ? null : hash.of("asked_reference", reference),
    ),
    statement(
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.position > (SELECT position FROM ledger)
          AND e.kind IN ('session_created', 'order_expected')`,
    ),
  ]);
  const other = eventsOf([...folded, ...unfolded]).map(readFact)
    .filter(isExpectation).map(({ expectation }) => expectation)
    .find((one) =>
      one.clickId === clickId && one.reference !== reference &&
      askedAtOf(one) <= until && validUntil(one) >= from
    );
  if (other === undefined) return;
  const holder = other.reference === null
    ? "a purchase without a reference"
    : `the reference ${JSON.stringify(other.reference)}`;
  throw new ExpectationError([{
    field: "click_id",
    message: `${JSON.stringify(clickId)} is still valid for ${holder}, until ` +
      `${validUntil(other)}; take a new click id for each purchase, or state ` +
      "the same reference",
  }], "click_id_in_use");
}

/** The fields of terms that an order is compared with. */
const COMPARED = [
  "commodity",
  "network",
  "commodityAmount",
  "currency",
  "currencyAmount",
  "walletAddress",
  "userId",
] as const satisfies readonly (keyof Expectation)[];

/** Other terms for a purchase of which the service has shown success. */
async function refuseTermsOfPaid(
  driver: Driver,
  expectation: Expectation,
  { hash, assets }: { readonly hash: LookupHash; readonly assets: AssetTable },
): Promise<void> {
  const purchase = purchaseOf(expectation);
  if (purchase === null) return;
  const [rows] = await readDeciding(driver, [selectRows(
    "orders",
    "r.no IN (SELECT no FROM lookup WHERE hash = ? AND shown = 1 LIMIT 50)",
    hash.of(purchase.kind, purchase.name),
  )]);
  const orders = orderRows(rows).values().map((row) =>
    orderView(row, { assets })
  );
  const paid = orders.find(({ expected, history }) =>
    expected !== null && purchaseKey(expected) === purchaseKey(expectation) &&
    history.some(({ source, status }) =>
      source === "snapshot" && status === "success"
    ) &&
    COMPARED.some((field) => !isSameTerm(expected[field], expectation[field]))
  );
  if (paid === undefined) return;
  throw new ExpectationError([{
    field: purchase.kind === "reference" ? "reference" : "click_id",
    message: `${JSON.stringify(purchase.name)} was paid by ${paid.orderId}; ` +
      "take a new one for each purchase, or state the same terms",
  }], "purchase_paid");
}

function isSameTerm(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && sameAmount(a, b, null));
}

/** The rule for orders that begin from a time on. */
export async function readWitnessRule(
  driver: Driver,
  time: string,
): Promise<WitnessRule> {
  const recorded = await readEvents(
    driver,
    `events AS e WHERE e.kind = 'witness_required' AND e.${IS_RARE}`,
  );
  const rules = new WitnessRules();
  for (const { change } of recorded.map(readFact).filter(isWitnessRule)) {
    rules.add(change);
  }
  return rules.at(nextSecond(time));
}
