import type { Delivery, UnansweredDelivery } from "../../core/wire/delivery.ts";
import { derive, factId } from "./derive.ts";
import type {
  ChainReadingBody,
  DeliveryUnansweredBody,
  MonthClosedBody,
  NewEvent,
  OrderAbsentBody,
  OrderContradictedBody,
  OrderExpectedBody,
  OrderRedactedBody,
  OrderReleasedBody,
  SessionCreatedBody,
} from "./event.ts";
import type { WitnessRequiredBody } from "./witness_rule.ts";
import type { EventKind } from "../machines/event_kind.ts";

const utf8 = new TextEncoder();

/** What every minted event needs besides its fact. */
export interface MintOptions {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Sixteen fresh random bytes that blind the body's commitment. */
  readonly salt: Uint8Array;
}

/** A reading of the Data API, to be minted. */
export interface ReadingOptions extends MintOptions {
  /** Exact JSON text of the one order or user, as the service sent it. */
  readonly source: string;
  /** The answer's `Date`, else our clock when asking; UTC ISO 8601. */
  readonly readAt: string;
}

/** An order that was asked for and not there. */
export interface AbsenceOptions extends MintOptions {
  /** The order. */
  readonly orderId: string;
  /** When the service was asked, UTC ISO 8601. */
  readonly readAt: string;
}

/** A claim that the service has not agreed with. */
export interface ContradictionOptions extends AbsenceOptions {
  /** The claimed status. */
  readonly status: string;
  /** `recordedAt` of the last claim that this contradicts. */
  readonly upTo: string;
}

/** A session this partner made. */
export interface SessionOptions extends MintOptions {
  /** What was asked for, and what the service returned. */
  readonly session: SessionCreatedBody;
}

/** What this partner expects of an order, without a session. */
export interface OrderExpectedOptions extends MintOptions {
  /** What is expected. */
  readonly expected: OrderExpectedBody;
}

/** That a person delivered or refunded an order. */
export interface OrderReleasedOptions extends MintOptions {
  /** The order, and what the person did. */
  readonly released: OrderReleasedBody;
}

/** What the partner's chain nodes showed. */
export interface ChainReadingOptions extends MintOptions {
  /** The order, and what they showed of its transaction. */
  readonly looked: ChainReadingBody;
  /** When they were asked, UTC ISO 8601. */
  readonly readAt: string;
}

/** Since when orders wait for the chain, or until when. */
export interface WitnessRequiredOptions extends MintOptions {
  /** Which of the two, and from when on. */
  readonly required: WitnessRequiredBody;
}

/** A month whose books this partner closed. */
export interface MonthOptions extends MintOptions {
  /** What was closed, and its files. */
  readonly closed: MonthClosedBody;
}

/** What is kept of an order whose other data was erased. */
export interface RedactionOptions extends MintOptions {
  /** The order's fields, and the event that they were in. */
  readonly redacted: OrderRedactedBody;
  /** When that was read; null for a webhook. */
  readonly readAt: string | null;
}

/** A delivery that was stored, but not answered in time with 2xx. */
export interface UnansweredOptions extends Omit<MintOptions, "recordedAt"> {
  /** The delivery, and what its sender saw. */
  readonly unanswered: UnansweredDelivery;
  /**
   * When this ledger learnt it.
   *
   * @default when it was noticed
   */
  readonly recordedAt?: string;
}

/**
 * The event of a delivery, whatever its body says.
 *
 * Columns are derived from any JSON object, recognised or not; anything else
 * is quarantined: `type` and all links are null. Nothing is ever refused.
 *
 * @param delivery What arrived.
 * @param salt Sixteen fresh random bytes.
 *
 * @example Mint a delivery
 * ```ts
 * import { webhookEvent } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = webhookEvent({
 *   id: "01JDELIVERY",
 *   receivedAt: "2026-01-01T10:00:00.000Z",
 *   body: new TextEncoder().encode('{"type":"login","click_id":"basket-7"}'),
 * }, crypto.getRandomValues(new Uint8Array(16)));
 * assert.deepEqual([event.type, event.clickId], ["login", "basket-7"]);
 * ```
 */
export function webhookEvent(delivery: Delivery, salt: Uint8Array): NewEvent {
  return {
    ...derive("webhook", delivery.body).columns,
    eventId: delivery.id,
    kind: "webhook",
    recordedAt: delivery.receivedAt,
    readAt: null,
    body: delivery.body,
    salt,
  };
}

/**
 * The event of an order as the orders endpoint showed it.
 *
 * @param reading The order's exact text, and when it was read.
 * @throws {SyntaxError} When `source` is not JSON.
 * @throws {TypeError} When `source` names no order.
 *
 * @example Mint a reading
 * ```ts
 * import { orderSnapshot } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderSnapshot({
 *   source: '{"order_id":"01JORDER","changed_at":"2026-01-01 09:59:58"}',
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.occurredAt, "2026-01-01T09:59:58.000Z");
 * ```
 */
export function orderSnapshot(reading: ReadingOptions): NewEvent {
  return factEvent("order_snapshot", reading.source, reading);
}

/**
 * The event of a user as the users endpoint showed it.
 *
 * @param reading The user's exact text, and when it was read.
 * @throws {SyntaxError} When `source` is not JSON.
 * @throws {TypeError} When `source` names no user.
 *
 * @example Mint a reading
 * ```ts
 * import { userSnapshot } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = userSnapshot({
 *   source: '{"user_id":"01JUSER","fkyc_status":"success"}',
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.userId, "01JUSER");
 * ```
 */
export function userSnapshot(reading: ReadingOptions): NewEvent {
  return factEvent("user_snapshot", reading.source, reading);
}

/**
 * The event "asked, walked to the end, and the order is not there".
 *
 * @param absence The order, and when the service was asked.
 * @throws {TypeError} When `orderId` is empty.
 *
 * @example Mint an absence
 * ```ts
 * import { orderAbsent } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderAbsent({
 *   orderId: "01JORDER",
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.kind, "order_absent");
 * ```
 */
export function orderAbsent(absence: AbsenceOptions): NewEvent {
  const body: OrderAbsentBody = { order_id: absence.orderId };
  return factEvent("order_absent", JSON.stringify(body), absence);
}

/**
 * The event "asked, and for ten minutes the service has not agreed".
 *
 * @param contradiction The order and the claim.
 * @throws {TypeError} When `orderId` is empty.
 *
 * @example Mint a contradiction
 * ```ts
 * import { orderContradicted } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderContradicted({
 *   orderId: "01JORDER",
 *   status: "success",
 *   upTo: "2026-01-01T09:45:00.000Z",
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.orderId, "01JORDER");
 * ```
 */
export function orderContradicted(
  contradiction: ContradictionOptions,
): NewEvent {
  const body: OrderContradictedBody = {
    order_id: contradiction.orderId,
    status: contradiction.status,
    up_to: contradiction.upTo,
  };
  return factEvent("order_contradicted", JSON.stringify(body), contradiction);
}

/**
 * The event of a session this partner made.
 *
 * @param created What was asked for, and what the service returned.
 * @throws {TypeError} When the session has no id.
 *
 * @example Mint a session
 * ```ts
 * import { sessionCreated } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = sessionCreated({
 *   session: { session_id: "5f0c6a0e", flow_type: "simple", click_id: "basket-7" },
 *   recordedAt: "2026-01-01T10:00:00.000Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.clickId, "basket-7");
 * ```
 */
export function sessionCreated(created: SessionOptions): NewEvent {
  return factEvent("session_created", JSON.stringify(created.session), created);
}

/**
 * The event "this partner expects an order like this".
 *
 * @param expected What is expected.
 * @throws {TypeError} When `expectation_id` is empty.
 *
 * @example Mint an expectation
 * ```ts
 * import { orderExpected } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderExpected({
 *   expected: {
 *     expectation_id: "01JEXPECTED",
 *     click_id: "basket-7",
 *     reference: "invoice-2041",
 *     currency: "USD",
 *     currency_amount: "900.00",
 *   },
 *   recordedAt: "2026-01-01T10:00:00.000Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.clickId, "basket-7");
 * ```
 */
export function orderExpected(
  { expected, ...options }: OrderExpectedOptions,
): NewEvent {
  return factEvent("order_expected", JSON.stringify(expected), options);
}

/**
 * The event "a person delivered or refunded this order".
 *
 * @param release The order, and what the person did.
 * @throws {TypeError} When `order_id` is empty.
 *
 * @example Mint a release by hand
 * ```ts
 * import { orderReleased } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderReleased({
 *   released: {
 *     order_id: "01JORDER",
 *     outcome: "delivered",
 *     by: "Ada",
 *     why: "paid by bank transfer",
 *     for: "basket-17",
 *   },
 *   recordedAt: "2026-01-01T10:00:00.000Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.orderId, "01JORDER");
 * ```
 */
export function orderReleased(
  { released, ...options }: OrderReleasedOptions,
): NewEvent {
  return factEvent("order_released", JSON.stringify(released), options);
}

/**
 * The event "the partner's own chain nodes showed this of the transaction".
 *
 * @param look The order, and what they showed.
 * @throws {TypeError} When `order_id` is empty.
 *
 * @example Mint a look
 * ```ts
 * import { chainReading } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = chainReading({
 *   looked: {
 *     order_id: "01JORDER",
 *     network: "bitcoin",
 *     verdict: "delivered",
 *     final: true,
 *     nodes: ["core-1", "core-2"],
 *   },
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.orderId, "01JORDER");
 * ```
 */
export function chainReading(
  { looked, ...options }: ChainReadingOptions,
): NewEvent {
  return factEvent("chain_reading", JSON.stringify(looked), options);
}

/**
 * The event "stored, but not answered in time with 2xx".
 *
 * @param noticed The delivery and what its sender saw.
 * @throws {TypeError} When the delivery has no id.
 *
 * @example Mint a late answer
 * ```ts
 * import { deliveryUnanswered } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = deliveryUnanswered({
 *   unanswered: {
 *     id: "01JDELIVERY",
 *     noticedAt: "2026-01-01T10:00:05.000Z",
 *     answer: "late",
 *   },
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.recordedAt, "2026-01-01T10:00:05.000Z");
 * ```
 */
export function deliveryUnanswered(noticed: UnansweredOptions): NewEvent {
  const { unanswered, recordedAt = unanswered.noticedAt, salt } = noticed;
  const body: DeliveryUnansweredBody = {
    event_id: unanswered.id,
    answer: unanswered.answer,
  };
  return factEvent("delivery_unanswered", JSON.stringify(body), {
    recordedAt,
    salt,
  });
}

/**
 * The event "from now on orders wait for the chain", or wait no more.
 *
 * @param required Which of the two, and from when on.
 * @throws {TypeError} When it says no time.
 *
 * @example Mint a requirement
 * ```ts
 * import { witnessRequired } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = witnessRequired({
 *   required: { since: "2026-01-01T10:00:00.000Z", unsupported: "wait" },
 *   recordedAt: "2026-01-01T10:00:00.000Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.orderId, null);
 * ```
 */
export function witnessRequired(
  { required, ...options }: WitnessRequiredOptions,
): NewEvent {
  return factEvent("witness_required", JSON.stringify(required), options);
}

/**
 * The event "the books of this month are closed". All such events of a month
 * have one id, so that a ledger takes the first alone.
 *
 * @param closing The month and its files.
 * @throws {TypeError} When the month is empty.
 *
 * @example Mint a closed month
 * ```ts
 * import { monthClosed } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = monthClosed({
 *   closed: {
 *     month: "2026-11",
 *     time_zone: "Europe/Berlin",
 *     time_zone_version: "2026b",
 *     book_by: "confirmed",
 *     position: 1234,
 *     events: 1234,
 *     fold_version: 9,
 *     files: [],
 *   },
 *   recordedAt: "2026-12-02T08:00:00.000Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.kind, "month_closed");
 * ```
 */
export function monthClosed({ closed, ...options }: MonthOptions): NewEvent {
  return factEvent("month_closed", JSON.stringify(closed), options);
}

/**
 * The event "this is kept of an order whose other data was erased".
 *
 * @param redaction The fields, and the times of the event that they were in.
 * @throws {TypeError} When the order's id is empty.
 *
 * @example Keep the status of a reading
 * ```ts
 * import { orderRedacted } from "./mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = orderRedacted({
 *   redacted: { order_id: "01JORDER", status: "success", redacts: null },
 *   readAt: "2026-01-01T10:00:00.000Z",
 *   recordedAt: "2026-01-01T10:00:00.120Z",
 *   salt: crypto.getRandomValues(new Uint8Array(16)),
 * });
 * assert.equal(event.orderId, "01JORDER");
 * ```
 */
export function orderRedacted(
  { redacted, readAt, ...options }: RedactionOptions,
): NewEvent {
  return factEvent("order_redacted", JSON.stringify(redacted), {
    ...options,
    ...(readAt === null ? {} : { readAt }),
  });
}

/** An event whose id is computed from its content. */
function factEvent(
  kind: EventKind,
  source: string,
  options: MintOptions & { readonly readAt?: string },
): NewEvent {
  const body = utf8.encode(source);
  const { columns, entity } = derive(kind, body);
  if (entity === null) {
    throw new TypeError(
      `Cannot record ${kind}: the body names nothing that it is about: ` +
        source.slice(0, 200),
    );
  }
  const readAt = options.readAt ?? null;
  return {
    ...columns,
    eventId: factId(kind, entity, readAt, columns.digest),
    kind,
    recordedAt: options.recordedAt,
    readAt,
    body,
    salt: options.salt,
  };
}
