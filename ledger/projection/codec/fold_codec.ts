import { latestReading, type ObservedStatus } from "../../orders/readings.ts";
import type { OrderReading } from "../../events/order_reading.ts";
import type { CaseChange } from "../../events/case_change.ts";
import type { ChainReading } from "../../events/chain_reading.ts";
import type { HandRelease } from "../../events/hand_release.ts";
import type { OtpStep } from "../../events/fact.ts";
import type { Expectation } from "../../events/expectation.ts";
import type { Contradiction } from "../../orders/claims.ts";
import type { OrderFold } from "../../orders/order_fold.ts";
import type { OrderState } from "../../states/order_state.ts";
import type { NamedSession } from "../../orders/expectations.ts";
import type { UserFold } from "../../users/user_fold.ts";
import type { StatedVerification } from "../../users/user_status.ts";
import type { UserState } from "../../users/user_state.ts";
import type {
  ActivityFold,
  UserActivityFold,
} from "../../orders/activity_fold.ts";
import { ORDER_FIELD_NAMES } from "../../../core/wire/order_fields.ts";
import {
  asIs,
  asIsEach,
  byPlace,
  type Codec,
  list,
  nullable,
} from "./_by_place.ts";
import { packClaims, type PackedClaim, unpackClaims } from "./_claims.ts";

// One list of fields a shape, in the order in which they are stored: a change
// of a list needs another FOLD_VERSION.

const orderReading = byPlace<OrderReading>({
  digest: asIs,
  readAt: asIs,
  status: asIs,
  changedAt: asIs,
  createdAt: asIs,
  ...asIsEach(ORDER_FIELD_NAMES),
  statedChangedAt: asIs,
  statedCreatedAt: asIs,
  odd: asIs,
  match: asIs,
  txErased: asIs,
});

const expectation = byPlace<Expectation>({
  id: asIs,
  sessionId: asIs,
  flowType: asIs,
  clickId: asIs,
  reference: asIs,
  commodity: asIs,
  network: asIs,
  commodityAmount: asIs,
  currency: asIs,
  currencyAmount: asIs,
  walletAddress: asIs,
  userId: asIs,
  recordedAt: asIs,
  askedAt: asIs,
  validForMs: asIs,
});

const activityFields = {
  counts: asIs,
  firstAt: asIs,
  lastAt: asIs,
  lastWebhookAt: asIs,
  lastReadAt: asIs,
} as const;

/** Most statuses are shown with one time of change, which is written once. */
const observedStatus: Codec<ObservedStatus> = {
  pack: ({ status, first, last }) =>
    first === last ? [status, first] : [status, first, last],
  unpack: (packed) => {
    const [status, first, last = first] = packed as [string, string, string?];
    return { status, first, last };
  },
};

/** The last time is often the first, and that of the last webhook. */
const orderActivity = byPlace<ActivityFold>(activityFields);

/** An order, its claims packed beside its latest reading. */
type WithPackedClaims = Omit<OrderFold, "claims" | "latest"> & {
  readonly claims: readonly PackedClaim[];
};

const orderFold = byPlace<WithPackedClaims>({
  orderId: asIs,
  plausible: nullable(orderReading),
  plausibleAt: asIs,
  ahead: nullable(orderReading),
  statusless: nullable(orderReading),
  redacted: nullable(orderReading),
  observedStatuses: list(observedStatus),
  claims: asIs,
  transferSeen: asIs,
  contradicted: list(byPlace<Contradiction>({ status: asIs, upTo: asIs })),
  seenAt: asIs,
  absentAt: asIs,
  sessions: list(byPlace<NamedSession>({ sessionId: asIs, firstAt: asIs })),
  createdAt: asIs,
  firstReadAt: asIs,
  expectations: list(expectation),
  hand: nullable(
    byPlace<HandRelease>({
      outcome: asIs,
      reference: asIs,
      recordedAt: asIs,
      position: asIs,
    }),
  ),
  change: nullable(
    byPlace<CaseChange>({
      change: asIs,
      turn: asIs,
      recordedAt: asIs,
      digest: asIs,
      reasons: asIs,
      changedAt: asIs,
      afterHand: asIs,
      reference: asIs,
      since: asIs,
    }),
  ),
  looks: list(
    byPlace<ChainReading>({
      readAt: asIs,
      digest: asIs,
      network: asIs,
      txId: asIs,
      address: asIs,
      amount: asIs,
      verdict: asIs,
      reason: asIs,
      arrived: asIs,
      tolerance: asIs,
      blockHash: asIs,
      blockHeight: asIs,
      index: asIs,
      confirmations: asIs,
      final: asIs,
      nodes: asIs,
      erased: asIs,
    }),
  ),
  activity: {
    pack: (activity) => {
      const { firstAt, lastAt, lastWebhookAt } = activity;
      return orderActivity.pack({
        ...activity,
        lastAt: lastAt === firstAt ? "" : lastAt,
        lastWebhookAt: lastWebhookAt === lastAt ? "" : lastWebhookAt,
      });
    },
    unpack: (packed) => {
      const activity = orderActivity.unpack(packed);
      const lastAt = activity.lastAt === ""
        ? activity.firstAt
        : activity.lastAt;
      const lastWebhookAt = activity.lastWebhookAt === ""
        ? lastAt
        : activity.lastWebhookAt;
      return { ...activity, lastAt, lastWebhookAt };
    },
  },
});

const statedVerifications = list(
  byPlace<StatedVerification>({ state: asIs, lastAt: asIs }),
);

const userFold = byPlace<UserFold>({
  userId: asIs,
  latest: asIs,
  lkyc: statedVerifications,
  fkyc: statedVerifications,
  observedLkyc: asIs,
  observedFkyc: asIs,
  rejects: asIs,
  activity: byPlace<UserActivityFold>({
    ...activityFields,
    lastLoginAt: asIs,
    otp: list(byPlace<OtpStep>({
      recordedAt: asIs,
      eventId: asIs,
      status: asIs,
      detail: asIs,
      phoneCountry: asIs,
    })),
  }),
});

/**
 * Encodes what is known of an order. The same facts give the same text,
 * whatever their order of arrival.
 *
 * @param fold Folded facts of the order.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeOrderFold(fold: OrderFold): string {
  const claims = packClaims(fold.claims, fold.latest);
  return JSON.stringify(orderFold.pack({ ...fold, claims }));
}

/**
 * Decodes what {@linkcode encodeOrderFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the order.
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function decodeOrderFold(text: string): OrderFold {
  const fold = orderFold.unpack(JSON.parse(text));
  const latest = latestReading(fold);
  return { ...fold, latest, claims: unpackClaims(fold.claims, latest) };
}

/**
 * Encodes what is known of a user, like {@linkcode encodeOrderFold}.
 *
 * @param fold Folded facts of the user.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeUserFold(fold: UserFold): string {
  return JSON.stringify(userFold.pack(fold));
}

/**
 * Decodes what {@linkcode encodeUserFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the user.
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function decodeUserFold(text: string): UserFold {
  return userFold.unpack(JSON.parse(text));
}

/**
 * The canonical bytes of an order: byte-identical for the same set of events
 * in any order, with any repeats, in any batches, and folded again from
 * nothing.
 *
 * @param state State of the order.
 * @returns JSON with fixed key order.
 *
 * @example Compare two folds of one order
 * ```ts
 * import { canonicalOrder } from "./fold_codec.ts";
 * import { foldOrder } from "../../explain/as_of.ts";
 * import { orderState } from "../../states/state_of_order.ts";
 * import assert from "node:assert/strict";
 *
 * const bytes = () => canonicalOrder(orderState(foldOrder("01ORDER", [])));
 * assert.equal(bytes(), bytes());
 * ```
 */
export function canonicalOrder(state: OrderState): string {
  return JSON.stringify(state);
}

/**
 * The canonical bytes of a user, like {@linkcode canonicalOrder}.
 *
 * @param state State of the user.
 * @returns JSON with fixed key order.
 *
 * @example Compare two folds of one user
 * ```ts
 * import { canonicalUser } from "./fold_codec.ts";
 * import { foldUser } from "../../explain/as_of.ts";
 * import { userState } from "../../users/user_state.ts";
 * import assert from "node:assert/strict";
 *
 * const bytes = () => canonicalUser(userState(foldUser("01USER", [])));
 * assert.equal(bytes(), bytes());
 * ```
 */
export function canonicalUser(state: UserState): string {
  return JSON.stringify(state);
}
