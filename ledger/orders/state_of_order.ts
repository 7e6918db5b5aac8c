import { orderAnomalies } from "../anomalies/order_anomalies.ts";
import type { Claim } from "./claims.ts";
import type { OrderFold } from "./order_fold.ts";
import type { OrderState } from "./order_state.ts";
import { orderReason } from "./order_reason.ts";
import { shownReading } from "./readings.ts";
import {
  claimedValue,
  type ResolveOptions,
  resolveOrder,
} from "./resolve_order.ts";
import { readingFacts } from "./reading_facts.ts";
import { decideRelease } from "./release.ts";
import { emptyToNull } from "../events/fact_text.ts";

/**
 * Works out the state of an order from what is known.
 *
 * @param fold Folded facts of the order.
 * @param options How to work it out.
 * @returns The state, with fixed key order.
 *
 * @example An order of which nothing is known
 * ```ts
 * import { initialOrderFold, orderState } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * const state = orderState(initialOrderFold("01ORDER"));
 * assert.equal(`${state.status} ${state.trust}`, "created claimed");
 * ```
 */
export function orderState(
  fold: OrderFold,
  options: ResolveOptions = {},
): OrderState {
  const resolved = resolveOrder(fold, options);
  const { fields, standing, session, decided } = resolved;
  const asked = session?.asked ?? null;
  const latest = shownReading(fold);
  return {
    ...fields,
    orderId: fold.orderId,
    status: decided.status,
    trust: decided.trust,
    reason: orderReason(fold, decided),
    release: decideRelease(fold, resolved),
    createdAt: latest?.statedCreatedAt ??
      emptyToNull(latest?.createdAt ?? null),
    changedAt: latest?.statedChangedAt ??
      emptyToNull(latest?.changedAt ?? null),
    cryptoType: emptyToNull(latest?.cryptoType ?? null),
    cardId: emptyToNull(latest?.cardId ?? null),
    cardBrand: emptyToNull(latest?.cardBrand ?? null),
    paymentType: emptyToNull(latest?.paymentType ?? null),
    processedThrough: emptyToNull(latest?.processedThrough ?? null),
    fees: {
      partnerFee: emptyToNull(latest?.partnerFee ?? null),
      partnerFeePercent: emptyToNull(latest?.partnerFeePercent ?? null),
      serviceFee: emptyToNull(latest?.serviceFee ?? null),
      serviceFeePercent: emptyToNull(latest?.serviceFeePercent ?? null),
    },
    smartContract: {
      address: claimedValue(standing, "scAddress"),
      inputData: emptyToNull(latest?.scInputData ?? null) ??
        claimedValue(standing, "scInputData"),
    },
    transferSeen: fold.transferSeen,
    history: [
      ...fold.shown.map(({ status }) => ({
        source: "snapshot" as const,
        status,
      })),
      ...fold.claims.map(({ status }) => ({
        source: "webhook" as const,
        status,
      })),
    ],
    claimed: claimedFacts(standing),
    confirmed: fold.latest === null
      ? null
      : { ...readingFacts(fold.latest), status: fold.latest.status },
    sessions: fold.sessions.map(({ sessionId }) => sessionId).sort(),
    asked: asked === null ? null : {
      sessionId: asked.sessionId,
      flowType: asked.flowType,
      reference: asked.reference,
      commodity: asked.commodity,
      network: asked.network,
      commodityAmount: asked.commodityAmount,
      currency: asked.currency,
      currencyAmount: asked.currencyAmount,
      walletAddress: asked.walletAddress,
      userId: asked.userId,
    },
    sessionTrust: session?.trust ?? null,
    anomalies: orderAnomalies(fold, resolved),
  };
}

function claimedFacts(standing: readonly Claim[]): OrderState["claimed"] {
  const highest = standing[0];
  if (highest === undefined) return null;
  return {
    currency: claimedValue(standing, "currency"),
    currencyAmount: claimedValue(standing, "currencyAmount"),
    commodity: claimedValue(standing, "commodity"),
    network: null,
    cryptoAmount: claimedValue(standing, "cryptoAmount"),
    address: claimedValue(standing, "address"),
    txId: claimedValue(standing, "txId"),
    userId: claimedValue(standing, "userId"),
    clickId: claimedValue(standing, "clickId"),
    externalOrderId: claimedValue(standing, "externalOrderId"),
    failReason: claimedValue(standing, "failReason"),
    status: highest.status,
  };
}
