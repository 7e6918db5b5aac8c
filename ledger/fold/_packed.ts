import type { ActivityFold } from "./activity_fold.ts";
import type {
  ClaimBody,
  ClaimedStatus,
  OrderReading,
  OtpStep,
  SessionAsked,
  UserReading,
} from "./fact.ts";
import type { Status } from "./order_state.ts";

/** A text or nothing. */
export type Text = string | null;

/** An order reading, by place. */
export type PackedReading = [
  ...[string, string, Status, string, string],
  ...[Text, Text, Text, Text, Text, Text, Text, Text, Text, Text],
  ...[Text, Text, Text, Text, Text, Text, Text, Text, Text, Text, Text],
];

/** A text, nothing, or {@linkcode asRead} or {@linkcode asBefore}. */
type Said = Text | typeof asRead | typeof asBefore;

/** Stands for what the latest reading says. */
const asRead = 0;

/** Stands for what the claim body before says. */
const asBefore = 1;

/** A claim body, by place: the digest, and what {@linkcode said} names. */
export type PackedBody = [string, ...Said[]];

/** A session, by place. */
export type PackedAsked = [
  ...[string, string, string],
  ...[Text, Text, Text, Text, Text, Text, Text, Text],
];

/** An activity, by place. */
export type PackedActivity = [readonly number[], Text, Text, Text, Text];

/** An order, by place. */
export type PackedOrder = [
  string,
  PackedReading | null,
  ([Status, string] | [Status, string, string])[],
  [ClaimedStatus, string, PackedBody[]][],
  0 | 1,
  [Status, string][],
  Text,
  Text,
  readonly string[],
  PackedAsked[],
  PackedActivity,
  Text,
];

/** A step of a one-time code, by place. */
export type PackedStep = [string, string, string, Text, Text];

/** A user, by place. */
export type PackedUser = [
  string,
  UserReading | null,
  [string, string][],
  [string, string][],
  readonly string[],
  [...PackedActivity, Text, PackedStep[]],
];

export function packReading(reading: OrderReading): PackedReading {
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

export function unpackReading(packed: PackedReading): OrderReading {
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

/** Fields of a claim body in their places, and where readings have them. */
const said = [
  ["currency", "currency"],
  ["currencyAmount", "currencyAmount"],
  ["commodity", "commodity"],
  ["cryptoAmount", "cryptoAmount"],
  ["address", "address"],
  ["txId", "txId"],
  ["userId", "userId"],
  ["clickId", "clickId"],
  ["externalOrderId", "externalOrderId"],
  ["failReason", "failReason"],
  ["scAddress", null],
  ["scInputData", "scInputData"],
] as const satisfies readonly (readonly [
  keyof ClaimBody,
  keyof OrderReading | null,
])[];

/**
 * Packs a claim body. Most of it says again what the reading or the body
 * before has said, which is written as a digit: a fold is half as large so.
 */
export function packBody(
  body: ClaimBody,
  reading: OrderReading | null,
  before: ClaimBody | undefined,
): PackedBody {
  const packed: PackedBody = [body.digest];
  for (const [field, read] of said) {
    const value = body[field];
    packed.push(
      value === null
        ? null
        : reading !== null && read !== null && value === reading[read]
        ? asRead
        : value === before?.[field]
        ? asBefore
        : value,
    );
  }
  return packed;
}

export function unpackBody(
  packed: PackedBody,
  reading: OrderReading | null,
  before: ClaimBody | undefined,
): ClaimBody {
  const text = (place: number): Text => {
    const value = packed[place + 1];
    if (typeof value === "string") return value;
    const [field, read] = said[place] as typeof said[number];
    if (value === asRead && reading !== null && read !== null) {
      return reading[read];
    }
    return value === asBefore ? before?.[field] ?? null : null;
  };
  return {
    digest: packed[0],
    currency: text(0),
    currencyAmount: text(1),
    commodity: text(2),
    cryptoAmount: text(3),
    address: text(4),
    txId: text(5),
    userId: text(6),
    clickId: text(7),
    externalOrderId: text(8),
    failReason: text(9),
    scAddress: text(10),
    scInputData: text(11),
  };
}

export function packAsked(asked: SessionAsked): PackedAsked {
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

export function unpackAsked(packed: PackedAsked): SessionAsked {
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

export function packStep(step: OtpStep): PackedStep {
  return [
    step.recordedAt,
    step.eventId,
    step.status,
    step.detail,
    step.phoneCountry,
  ];
}

export function unpackStep(packed: PackedStep): OtpStep {
  return {
    recordedAt: packed[0],
    eventId: packed[1],
    status: packed[2],
    detail: packed[3],
    phoneCountry: packed[4],
  };
}

export function packActivity(activity: ActivityFold): PackedActivity {
  return [
    activity.counts,
    activity.firstAt,
    activity.lastAt,
    activity.lastWebhookAt,
    activity.lastReadAt,
  ];
}

export function unpackActivity(packed: PackedActivity): ActivityFold {
  return {
    counts: packed[0],
    firstAt: packed[1],
    lastAt: packed[2],
    lastWebhookAt: packed[3],
    lastReadAt: packed[4],
  };
}
