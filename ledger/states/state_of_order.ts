import { orderAnomalies } from "../anomalies/order_anomalies.ts";
import type { OrderFieldName } from "../../core/wire/order_fields.ts";
import type { Expectation, ExpectationTerms } from "../events/expectation.ts";
import { detailsBy, factsBy, feesBy } from "../events/order_facts.ts";
import type { Claim, OrderFold } from "../orders/order_fold.ts";
import {
  orderReason,
  type OrderState,
  type WitnessState,
} from "./order_state.ts";
import type { ChainReading } from "../events/chain_reading.ts";
import { countingLook } from "../orders/compare.ts";
import {
  claimedValue,
  readingFacts,
  type ResolveOptions,
  resolveOrder,
  visibleReading,
} from "../orders/order_status.ts";
import { factsOfOrder } from "../outcomes/facts_of_order.ts";
import { isChangedLater, matchExpectations } from "../outcomes/match.ts";
import { outcomeOf } from "../outcomes/outcome.ts";
import { byHandOf, settle } from "../outcomes/settled_by_hand.ts";
import { emptyToNull } from "../events/fact_text.ts";

/** Works out the state of an order from what is known. */
export function orderState(
  fold: OrderFold,
  options: ResolveOptions = {},
): OrderState {
  const resolved = resolveOrder(fold, options);
  const { fields, claims, decided, assets } = resolved;
  const { match, expected, uncompared } = matchExpectations(fold, assets);
  const facts = factsOfOrder(fold, match);
  const byRow = outcomeOf(facts);
  const byHand = byHandOf(fold, facts, byRow);
  const outcome = settle(byRow, facts, byHand);
  const latest = visibleReading(fold);
  const stated: Stated = (field) => emptyToNull(latest?.[field] ?? null);
  return {
    ...fields,
    orderId: fold.orderId,
    status: decided.status,
    trust: decided.trust,
    reason: orderReason(fold, decided),
    outcome: outcome.code,
    release: outcome.release,
    releaseReason: outcome.reason,
    booked: outcome.booked,
    attention: outcome.attention,
    byHand,
    witness: witnessOf(countingLook(fold)),
    facts,
    createdAt: latest?.statedCreatedAt ??
      emptyToNull(latest?.createdAt ?? null),
    changedAt: emptyToNull(
      latest?.statedChangedAt ?? latest?.changedAt ?? null,
    ),
    ...detailsBy(stated),
    fees: feesBy(stated),
    smartContract: {
      address: claimedValue(claims, "scAddress"),
      inputData: stated("scInputData") ??
        claimedValue(claims, "scInputData"),
    },
    transferSeen: fold.transferSeen,
    history: [
      ...fold.observedStatuses.map(({ status }) => ({
        source: "snapshot" as const,
        status,
      })),
      ...fold.claims.map(({ status }) => ({
        source: "webhook" as const,
        status,
      })),
    ],
    claimed: claimedFacts(claims),
    confirmed: fold.latest === null
      ? null
      : { ...readingFacts(fold.latest), status: fold.latest.status },
    sessions: fold.sessions.map(({ sessionId }) => sessionId).sort(),
    expected: expected === null ? null : termsOf(expected),
    expectedChanged: isChangedLater(fold, expected),
    uncompared,
    anomalies: orderAnomalies(fold, resolved, expected),
  };
}

type Stated = (field: OrderFieldName) => string | null;

/** What was expected, without when it was recorded and how long it is valid. */
function termsOf(
  { recordedAt: _, askedAt: _asked, validForMs: _valid, ...terms }: Expectation,
): ExpectationTerms {
  return terms;
}

function witnessOf(look: ChainReading | null): WitnessState | null {
  if (look === null) return null;
  const {
    digest: _d,
    txId: _t,
    address: _a,
    network: _n,
    erased: _e,
    asset: _s,
    type: _y,
    inputData: _i,
    ...rest
  } = look;
  return rest;
}

function claimedFacts(claims: readonly Claim[]): OrderState["claimed"] {
  const highest = claims[0];
  if (highest === undefined) return null;
  return {
    ...factsBy((field) =>
      field === "network" ? null : claimedValue(claims, field)
    ),
    status: highest.status,
  };
}
