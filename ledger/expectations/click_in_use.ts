import { refusePaid } from "./paid_purchase.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import { selectOrdersOfPurchase } from "../store/tables/purchases.ts";
import {
  askedAtOf,
  type Expectation,
  purchaseOf,
  validUntil,
} from "../events/expectation.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  selectExpectationsOfClick,
  selectUnfoldedExpectations,
} from "../store/tables/events/expectations.ts";
import { ExpectationError } from "./expectation_error.ts";

/**
 * Refuses other terms for a purchase of which the service has shown success.
 *
 * @param expectation What is to be recorded.
 * @throws {ExpectationError} `purchase_paid`.
 */
export async function refuseTermsOfPaid(
  driver: Driver,
  expectation: Expectation,
): Promise<void> {
  const purchase = purchaseOf(expectation);
  if (purchase === null) return;
  const [found] = await readPrimary(driver, [selectOrdersOfPurchase(purchase)]);
  const states = found?.rows.map(([state]) => readOrderState(String(state)));
  refusePaid(expectation, states ?? []);
}

/**
 * Refuses a click id that is valid for another reference at the same time: it
 * would be unclear which of the two an order pays for.
 *
 * Two that are recorded at the same moment may both pass. An order under their
 * click id then waits for a person.
 *
 * @param expectation What is to be recorded.
 * @param readFact Turns events into facts.
 * @throws {ExpectationError} `click_id_in_use`.
 */
export async function refuseClickInUse(
  driver: Driver,
  expectation: Expectation,
  readFact: (event: RecordedEvent) => Fact,
): Promise<void> {
  const { clickId, reference } = expectation;
  if (clickId === null) return;
  const from = askedAtOf(expectation);
  const until = validUntil(expectation);
  const [folded, unfolded] = await readPrimary(driver, [
    selectExpectationsOfClick({ clickId, reference, from, until }),
    selectUnfoldedExpectations(clickId),
  ]);
  const other = [...folded?.rows ?? [], ...unfolded?.rows ?? []]
    .map((row) => readFact(recordedEvent(row))).filter(isExpectation)
    .map(({ expectation }) => expectation)
    .find((one) =>
      one.reference !== reference && askedAtOf(one) <= until &&
      validUntil(one) >= from
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
