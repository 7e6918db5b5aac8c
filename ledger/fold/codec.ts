import type { ActivityFold, UserActivityFold } from "./activity_fold.ts";
import type {
  ClaimBody,
  ClaimedStatus,
  OrderReading,
  OtpStep,
  SessionAsked,
  UserReading,
} from "./fact.ts";
import type { OrderFold } from "./order_fold.ts";
import type { OrderState, Status } from "./order_state.ts";
import type { UserFold } from "./user_fold.ts";
import type { UserState } from "./user_state.ts";

// Folds are stored by place, without names: they are half as large so, and are
// written for every order that an event touches.

type Text = string | null;

type PackedReading = [
  ...[string, string, Status, string, string],
  ...[Text, Text, Text, Text, Text, Text, Text, Text, Text, Text],
  ...[Text, Text, Text, Text, Text, Text, Text, Text, Text, Text, Text],
];

type PackedBody = [
  string,
  ...[Text, Text, Text, Text, Text, Text, Text, Text, Text, Text, Text, Text],
];

type PackedAsked = [
  ...[string, string, string],
  ...[Text, Text, Text, Text, Text, Text, Text, Text],
];

type PackedActivity = [readonly number[], Text, Text, Text, Text];

type PackedOrder = [
  string,
  PackedReading | null,
  [Status, string, string][],
  [ClaimedStatus, string, PackedBody[]][],
  0 | 1,
  [Status, string][],
  Text,
  Text,
  readonly string[],
  PackedAsked[],
  PackedActivity,
];

type PackedStep = [string, string, string, Text, Text];

type PackedUser = [
  string,
  UserReading | null,
  [string, string][],
  [string, string][],
  readonly string[],
  [...PackedActivity, Text, PackedStep[]],
];

/**
 * Encodes what is known of an order. The same facts give the same text,
 * whatever their order of arrival.
 *
 * @param fold What is known of the order.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeOrderFold(fold: OrderFold): string {
  const packed: PackedOrder = [
    fold.orderId,
    fold.latest === null ? null : packReading(fold.latest),
    fold.shown.map(({ status, first, last }) => [status, first, last]),
    fold.claims.map((
      { status, lastAt, bodies },
    ) => [status, lastAt, bodies.map(packBody)]),
    fold.transferSeen ? 1 : 0,
    fold.contradicted.map(({ status, upTo }) => [status, upTo]),
    fold.seenAt,
    fold.absentAt,
    fold.sessions,
    fold.asked.map(packAsked),
    packActivity(fold.activity),
  ];
  return JSON.stringify(packed);
}

/**
 * Decodes what {@linkcode encodeOrderFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the order.
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function decodeOrderFold(text: string): OrderFold {
  const packed = JSON.parse(text) as PackedOrder;
  return {
    orderId: packed[0],
    latest: packed[1] === null ? null : unpackReading(packed[1]),
    shown: packed[2].map(([status, first, last]) => ({ status, first, last })),
    claims: packed[3].map(([status, lastAt, bodies]) => ({
      status,
      lastAt,
      bodies: bodies.map(unpackBody),
    })),
    transferSeen: packed[4] === 1,
    contradicted: packed[5].map(([status, upTo]) => ({ status, upTo })),
    seenAt: packed[6],
    absentAt: packed[7],
    sessions: packed[8],
    asked: packed[9].map(unpackAsked),
    activity: unpackActivity(packed[10]),
  };
}

/**
 * Encodes what is known of a user, like {@linkcode encodeOrderFold}.
 *
 * @param fold What is known of the user.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeUserFold(fold: UserFold): string {
  const { activity } = fold;
  const packed: PackedUser = [
    fold.userId,
    fold.latest,
    fold.lkyc.map(({ state, lastAt }) => [state, lastAt]),
    fold.fkyc.map(({ state, lastAt }) => [state, lastAt]),
    fold.rejects,
    [
      ...packActivity(activity),
      activity.lastLoginAt,
      activity.otp.map(packStep),
    ],
  ];
  return JSON.stringify(packed);
}

/**
 * Decodes what {@linkcode encodeUserFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the user.
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function decodeUserFold(text: string): UserFold {
  const packed = JSON.parse(text) as PackedUser;
  const [counts, firstAt, lastAt, lastWebhookAt, lastReadAt, login, otp] =
    packed[5];
  const activity: UserActivityFold = {
    counts,
    firstAt,
    lastAt,
    lastWebhookAt,
    lastReadAt,
    lastLoginAt: login,
    otp: otp.map(unpackStep),
  };
  return {
    userId: packed[0],
    latest: packed[1],
    lkyc: packed[2].map(([state, lastAt]) => ({ state, lastAt })),
    fkyc: packed[3].map(([state, lastAt]) => ({ state, lastAt })),
    rejects: packed[4],
    activity,
  };
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
 * import { canonicalOrder, foldOrder, orderState } from "@rampkit/onramp/ledger";
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
 * import { canonicalUser, foldUser, userState } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const bytes = () => canonicalUser(userState(foldUser("01USER", [])));
 * assert.equal(bytes(), bytes());
 * ```
 */
export function canonicalUser(state: UserState): string {
  return JSON.stringify(state);
}

function packReading(reading: OrderReading): PackedReading {
  return [
    reading.digest,
    reading.readAt,
    reading.status,
    reading.changedAt,
    reading.createdAt,
    reading.currency,
    reading.currencyAmount,
    reading.commodity,
    reading.cryptoType,
    reading.network,
    reading.cryptoAmount,
    reading.address,
    reading.txId,
    reading.userId,
    reading.clickId,
    reading.externalOrderId,
    reading.failReason,
    reading.cardId,
    reading.cardBrand,
    reading.paymentType,
    reading.processedThrough,
    reading.partnerFee,
    reading.partnerFeePercent,
    reading.serviceFee,
    reading.serviceFeePercent,
    reading.scInputData,
  ];
}

function unpackReading(packed: PackedReading): OrderReading {
  return {
    digest: packed[0],
    readAt: packed[1],
    status: packed[2],
    changedAt: packed[3],
    createdAt: packed[4],
    currency: packed[5],
    currencyAmount: packed[6],
    commodity: packed[7],
    cryptoType: packed[8],
    network: packed[9],
    cryptoAmount: packed[10],
    address: packed[11],
    txId: packed[12],
    userId: packed[13],
    clickId: packed[14],
    externalOrderId: packed[15],
    failReason: packed[16],
    cardId: packed[17],
    cardBrand: packed[18],
    paymentType: packed[19],
    processedThrough: packed[20],
    partnerFee: packed[21],
    partnerFeePercent: packed[22],
    serviceFee: packed[23],
    serviceFeePercent: packed[24],
    scInputData: packed[25],
  };
}

function packBody(body: ClaimBody): PackedBody {
  return [
    body.digest,
    body.currency,
    body.currencyAmount,
    body.commodity,
    body.cryptoAmount,
    body.address,
    body.txId,
    body.userId,
    body.clickId,
    body.externalOrderId,
    body.failReason,
    body.scAddress,
    body.scInputData,
  ];
}

function unpackBody(packed: PackedBody): ClaimBody {
  return {
    digest: packed[0],
    currency: packed[1],
    currencyAmount: packed[2],
    commodity: packed[3],
    cryptoAmount: packed[4],
    address: packed[5],
    txId: packed[6],
    userId: packed[7],
    clickId: packed[8],
    externalOrderId: packed[9],
    failReason: packed[10],
    scAddress: packed[11],
    scInputData: packed[12],
  };
}

function packAsked(asked: SessionAsked): PackedAsked {
  return [
    asked.sessionId,
    asked.recordedAt,
    asked.flowType,
    asked.reference,
    asked.commodity,
    asked.network,
    asked.commodityAmount,
    asked.currency,
    asked.currencyAmount,
    asked.walletAddress,
    asked.userId,
  ];
}

function unpackAsked(packed: PackedAsked): SessionAsked {
  return {
    sessionId: packed[0],
    recordedAt: packed[1],
    flowType: packed[2],
    reference: packed[3],
    commodity: packed[4],
    network: packed[5],
    commodityAmount: packed[6],
    currency: packed[7],
    currencyAmount: packed[8],
    walletAddress: packed[9],
    userId: packed[10],
  };
}

function packStep(step: OtpStep): PackedStep {
  return [
    step.recordedAt,
    step.eventId,
    step.status,
    step.detail,
    step.phoneCountry,
  ];
}

function unpackStep(packed: PackedStep): OtpStep {
  return {
    recordedAt: packed[0],
    eventId: packed[1],
    status: packed[2],
    detail: packed[3],
    phoneCountry: packed[4],
  };
}

function packActivity(activity: ActivityFold): PackedActivity {
  return [
    activity.counts,
    activity.firstAt,
    activity.lastAt,
    activity.lastWebhookAt,
    activity.lastReadAt,
  ];
}

function unpackActivity(packed: PackedActivity): ActivityFold {
  return {
    counts: packed[0],
    firstAt: packed[1],
    lastAt: packed[2],
    lastWebhookAt: packed[3],
    lastReadAt: packed[4],
  };
}
