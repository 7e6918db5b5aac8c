import { latestReading, type ObservedStatus } from "../../orders/readings.ts";
import type { OrderReading } from "../../events/order_reading.ts";
import type { ChainReading } from "../../events/chain_reading.ts";
import type { HandRelease } from "../../events/hand_release.ts";
import type { OtpStep } from "../../events/fact.ts";
import type { Expectation } from "../../events/expectation.ts";
import type { Contradiction } from "../../orders/claims.ts";
import { initialOrderFold, type OrderFold } from "../../orders/order_fold.ts";
import {
  foldedActivity,
  type StoredActivity,
} from "../../orders/order_activity.ts";
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
  type CodecsOf,
  list,
  nullable,
} from "./_by_place.ts";
import { packLetters, unpackLetters } from "./_lettered.ts";
import { packClaims, type PackedClaim, unpackClaims } from "./_claims.ts";
import { asSaid, NOTHING_SAID, type Said, saidBy, saidByRow } from "./_said.ts";
import { EMPTY_STATE } from "./stored_state.ts";

// One list of fields a shape, in the order in which they are stored: a change
// of a list needs another FOLD_VERSION.

const readingFields = {
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
  erasedTx: asIs,
} as const;

const orderReading = byPlace<OrderReading>(readingFields);

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
function repeating<Activity extends ActivityFold>(
  codec: Codec<Activity>,
): Codec<Activity> {
  return {
    pack(activity) {
      const { firstAt, lastAt, lastWebhookAt } = activity;
      return codec.pack({
        ...activity,
        lastAt: lastAt === firstAt ? "" : lastAt,
        lastWebhookAt: lastWebhookAt === lastAt ? "" : lastWebhookAt,
      });
    },
    unpack(packed) {
      // What stands beside it was read already.
      if (!Array.isArray(packed)) return packed as Activity;
      const activity = codec.unpack(packed);
      const lastAt = activity.lastAt === ""
        ? activity.firstAt
        : activity.lastAt;
      const lastWebhookAt = activity.lastWebhookAt === ""
        ? lastAt
        : activity.lastWebhookAt;
      return { ...activity, lastAt, lastWebhookAt };
    },
  };
}

/** An order, its claims packed beside its latest reading. */
type WithPackedClaims = Omit<OrderFold, "claims" | "latest"> & {
  readonly claims: readonly PackedClaim[];
};

const orderFields: CodecsOf<WithPackedClaims> = {
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
  successReadAt: asIs,
  expectations: list(expectation),
  hand: nullable(
    byPlace<HandRelease>({
      outcome: asIs,
      purchase: asIs,
      recordedAt: asIs,
      eventId: asIs,
    }),
  ),
  looks: list(
    byPlace<ChainReading>({
      readAt: asIs,
      digest: asIs,
      network: asIs,
      asset: asIs,
      type: asIs,
      txId: asIs,
      address: asIs,
      amount: asIs,
      inputData: asIs,
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
  required: asIs,
  activity: repeating(byPlace<ActivityFold>(activityFields)),
};

const orderFold = byPlace<WithPackedClaims>(orderFields);

const placesOfFold = Object.keys(orderFields);

/** A packed fold of nothing, which says by itself what is left out. */
const emptyFold = orderFold.pack(
  { ...initialOrderFold(""), claims: [] },
) as readonly unknown[];

/** Readings of a packed fold, by their places. */
const readingPlaces = ["plausible", "ahead", "statusless", "redacted"].map(
  (field) => placesOfFold.indexOf(field),
);

const orderIdPlace = placesOfFold.indexOf("orderId");
const sessionsPlace = placesOfFold.indexOf("sessions");
const claimsPlace = placesOfFold.indexOf("claims");
const activityPlace = placesOfFold.indexOf("activity");
const readAtPlace = Object.keys(readingFields).indexOf("readAt");

/** Times of a packed fold, by their places, and what mostly says them too. */
const saidTimes = ([
  ["plausibleAt", "lastReadAt"],
  ["seenAt", "lastReadAt"],
  ["createdAt", "createdAt"],
  ["firstReadAt", "firstAt"],
] as const).map(([field, time]) =>
  [placesOfFold.indexOf(field), time] as const
);

/** Fields of a packed reading that a state may say as well, by their places. */
const saidPlaces = Object.keys(readingFields).flatMap((field, place) =>
  Object.hasOwn(EMPTY_STATE, field) ? [[place, field] as const] : []
);

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
  activity: repeating(byPlace<UserActivityFold>({
    ...activityFields,
    lastLoginAt: asIs,
    otp: list(byPlace<OtpStep>({
      recordedAt: asIs,
      eventId: asIs,
      status: asIs,
      detail: asIs,
      phoneCountry: asIs,
    })),
  })),
});

/**
 * Encodes what is known of an order. The same facts give the same text,
 * whatever their order of arrival.
 *
 * @param fold Folded facts of the order.
 * @param state State of the order, where the text is to stand beside it: what it
 * says is not said again, so that strangers fill no row twice with one text.
 * @returns Well-formed JSON without NUL, to be read with the same fold version.
 */
export function encodeOrderFold(
  fold: OrderFold,
  state: OrderState | null = null,
): string {
  const said = state === null ? NOTHING_SAID : saidBy(state);
  const claims = packClaims(fold.claims, fold.latest, said);
  const packed = orderFold.pack({ ...fold, claims }) as unknown[];
  if (state !== null) {
    leaveOut(packed, said, fold.activity);
  }
  return JSON.stringify(filled(packed));
}

/** Places and values in turns, without what a fold of nothing has as well. */
function filled(packed: readonly unknown[]): unknown[] {
  const filled: unknown[] = [];
  for (let place = 0; place < packed.length; place++) {
    const value = packed[place];
    if (value === null || value === false) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    filled.push(place, value);
  }
  return filled;
}

/**
 * Decodes what {@linkcode encodeOrderFold} wrote with the same fold version.
 *
 * @param text The encoded fold; with what it stands beside, as `orderFoldSql`
 * selects it.
 * @returns What is known of the order.
 * @throws {SyntaxError} When `text` is not JSON.
 */
export function decodeOrderFold(text: string): OrderFold {
  let stored: unknown[] = JSON.parse(text);
  let said = NOTHING_SAID;
  const packed = emptyFold.slice();
  const [columns, state, activity] = stored;
  const isBeside = Array.isArray(columns);
  if (isBeside) stored = stored[3] as unknown[];
  for (let at = 0; at < stored.length; at += 2) {
    packed[stored[at] as number] = stored[at + 1];
  }
  if (isBeside) {
    said = saidByRow(columns, state as Said);
    fillIn(packed, said, activity as StoredActivity);
  }
  const fold = orderFold.unpack(packed);
  const latest = latestReading(fold);
  return { ...fold, latest, claims: unpackClaims(fold.claims, latest, said) };
}

/**
 * Writes {@linkcode asSaid}, or its place, for what the state says and what the
 * activity does: that has status and time of each claim, in the same order.
 */
function leaveOut(packed: unknown[], said: Said, activity: ActivityFold): void {
  packed[orderIdPlace] = null;
  const times = timesOf(said, activity);
  for (const [place, time] of saidTimes) {
    const value = packed[place];
    if (value !== null && value === times[time]) packed[place] = asSaid;
  }
  packed[claimsPlace] = (packed[claimsPlace] as PackedClaim[]).map((
    [, , bodies],
  ) => bodies);
  packed[activityPlace] = null;
  for (const at of readingPlaces) {
    const reading = packed[at] as unknown[] | null;
    if (reading === null) continue;
    if (reading[readAtPlace] === times.lastReadAt) {
      reading[readAtPlace] = asSaid;
    }
    for (const [place, field] of saidPlaces) {
      const value = reading[place];
      if (value !== null && value === said[field]) reading[place] = asSaid;
    }
    packed[at] = packLetters(reading);
  }
  const sessions = said["sessions"] as readonly string[];
  for (const session of packed[sessionsPlace] as unknown[][]) {
    const place = sessions.indexOf(session[0] as string);
    if (place !== -1) session[0] = place;
    // Most orders were named with their session from the first.
    if (session[1] === times.firstAt) session.pop();
  }
}

/** Times that a fold repeats. */
function timesOf(
  said: Said,
  { firstAt, lastReadAt }: ActivityFold,
): Readonly<Record<typeof saidTimes[number][1], unknown>> {
  return { firstAt, lastReadAt, createdAt: said["createdAt"] };
}

/** The reverse. */
function fillIn(packed: unknown[], said: Said, stored: StoredActivity): void {
  // A fold that was not stored beside them has all of it.
  if (packed[orderIdPlace] !== "") return;
  packed[orderIdPlace] = said["orderId"];
  const { activity, claims } = foldedActivity(stored);
  packed[activityPlace] = activity;
  const times = timesOf(said, activity);
  for (const [place, time] of saidTimes) {
    if (packed[place] === asSaid) packed[place] = times[time];
  }
  packed[claimsPlace] = (packed[claimsPlace] as unknown[]).map((
    bodies,
    place,
  ) => [claims[place]?.status, claims[place]?.lastRecordedAt, bodies]);
  for (const at of readingPlaces) {
    if (packed[at] === null) continue;
    const reading = unpackLetters(packed[at] as unknown[]);
    if (reading[readAtPlace] === asSaid) {
      reading[readAtPlace] = times.lastReadAt;
    }
    for (const [place, field] of saidPlaces) {
      if (reading[place] === asSaid) reading[place] = said[field];
    }
    packed[at] = reading;
  }
  const sessions = said["sessions"] as readonly string[] | undefined;
  for (const session of packed[sessionsPlace] as unknown[][]) {
    const [place] = session;
    if (typeof place === "number") session[0] = sessions?.[place];
    if (session.length === 1) session.push(activity.firstAt);
  }
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
 * The texts of a user's row. They begin with the user's id, which a column says
 * already: `userTextsSql` selects them whole.
 *
 * @param fold Folded facts of the user.
 * @param state State of the user.
 */
export function storeUser(
  fold: UserFold,
  state: UserState,
): { readonly state: string; readonly fold: string } {
  const id = JSON.stringify(fold.userId).length;
  return {
    state: `{${canonicalUser(state).slice('{"userId":,'.length + id)}`,
    fold: `[${encodeUserFold(fold).slice("[,".length + id)}`,
  };
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
