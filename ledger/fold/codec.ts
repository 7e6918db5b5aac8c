import type { UserActivityFold } from "./activity_fold.ts";
import type { ClaimBody } from "./fact.ts";
import type { OrderFold } from "./order_fold.ts";
import type { OrderState } from "./order_state.ts";
import {
  packActivity,
  packAsked,
  packBody,
  type PackedOrder,
  type PackedUser,
  packReading,
  packStep,
  unpackActivity,
  unpackAsked,
  unpackBody,
  unpackReading,
  unpackStep,
} from "./_packed.ts";
import type { UserFold } from "./user_fold.ts";
import type { UserState } from "./user_state.ts";

// Folds are stored by place, without names: they are half as large so, and are
// written for every order that an event touches.

/**
 * Encodes what is known of an order. The same facts give the same text,
 * whatever their order of arrival.
 *
 * @param fold What is known of the order.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeOrderFold(fold: OrderFold): string {
  let before: ClaimBody | undefined;
  const packed: PackedOrder = [
    fold.orderId,
    fold.latest === null ? null : packReading(fold.latest),
    fold.shown.map(({ status, first, last }) =>
      first === last ? [status, first] : [status, first, last]
    ),
    fold.claims.map(({ status, lastAt, bodies }) => [
      status,
      lastAt,
      bodies.map((body) => {
        const packed = packBody(body, fold.latest, before);
        before = body;
        return packed;
      }),
    ]),
    fold.transferSeen ? 1 : 0,
    fold.contradicted.map(({ status, upTo }) => [status, upTo]),
    fold.seenAt,
    fold.absentAt,
    fold.sessions,
    fold.asked.map(packAsked),
    packActivity(fold.activity),
    fold.createdAt,
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
  const latest = packed[1] === null ? null : unpackReading(packed[1]);
  let before: ClaimBody | undefined;
  return {
    orderId: packed[0],
    latest,
    shown: packed[2].map(([status, first, last = first]) => ({
      status,
      first,
      last,
    })),
    claims: packed[3].map(([status, lastAt, bodies]) => ({
      status,
      lastAt,
      bodies: bodies.map((body) => before = unpackBody(body, latest, before)),
    })),
    transferSeen: packed[4] === 1,
    contradicted: packed[5].map(([status, upTo]) => ({ status, upTo })),
    seenAt: packed[6],
    absentAt: packed[7],
    sessions: packed[8],
    createdAt: packed[11],
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
