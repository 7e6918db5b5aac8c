import { emptyRecord } from "../../core/guards.ts";
import { normaliseTime, readQueryTime } from "../../core/time/service_time.ts";
import {
  isOrderEvent,
  type OrderEvent,
  webhookType,
} from "../../core/webhook_event/webhook_event.ts";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import { KEPT_OF_WEBHOOK, orderField } from "../../core/wire/fields.ts";
import {
  isExpectationKind,
  normaliseStatus,
  orderMachine,
} from "../machines/machine.ts";
import {
  CLAIM_FIELDS,
  claimCode,
  claimId,
  claimName,
  claimText,
  cleaned,
  DEFAULT_VALID_FOR_MS,
  exactObject,
  type Expectation,
  filledText,
  HAND_OUTCOMES,
  linking,
  MATCH_FACTS,
  MOST_VALID_FOR_MS,
  objectOf,
  purchaseOf,
  readChainFields,
  readWitnessRule,
  type RecordedEvent,
  upper,
} from "./event.ts";
import { effectiveReadAt } from "./time.ts";
import type {
  ActivityLabel,
  Fact,
  FactBase,
  UnreadableFact,
  UnreadableReason,
  WebhookFact,
} from "./fact.ts";
import { readOrder, readUser } from "./readings.ts";
import { isMarkedErased } from "./record.ts";

/**
 * Decodes a recorded event, once, into a normalised fact. Never throws: what cannot
 * be read is a fact of kind `unreadable`, which is counted and folds into nothing else.
 */
export function readFact(event: RecordedEvent): Fact {
  try {
    return read(event);
  } catch {
    return because(event, "body_not_json");
  }
}

function read(event: RecordedEvent): Fact {
  const { kind, orderId, body, recordedAt, digest } = event;
  if (kind === "webhook") return readWebhook(event);
  const base = baseOf(event, kind);
  const readAt = effectiveReadAt(event.readAt, recordedAt);
  if (kind === "order_absent") return { ...base, kind, orderId, readAt };
  if (kind === "month_closed" || kind === "note" || kind === "person_erased") {
    return { ...base, kind };
  }
  // What an earlier version erased was imported without a body.
  if (body.length === 0) return because(event, "body_erased");
  if (kind === "order_snapshot") {
    if (isMarkedErased(event)) return because(event, "body_erased");
    const reading = readOrder(event);
    if (reading === null) return because(event, "body_not_object");
    return { ...base, kind, orderId, clickId: linking(event.clickId), reading };
  }
  if (kind === "user_snapshot") {
    const reading = readUser(event);
    if (reading === null) return because(event, "body_not_object");
    return { ...base, kind, userId: event.userId, reading };
  }
  const object = exactObject(body);
  if (kind === "order_redacted") {
    return object === null
      ? because(event, "body_not_object")
      : readRedacted(event, object);
  }
  const said = object ?? {};
  switch (kind) {
    case "order_contradicted": {
      const status = filledText(said.status);
      const upTo = normaliseTime(filledText(said.up_to));
      return status === null || upTo === null
        ? because(event, "contradiction_incomplete")
        : { ...base, kind, orderId, status: normaliseStatus(status), upTo };
    }
    case "order_released": {
      const outcome = HAND_OUTCOMES.find((one) => one === said.outcome);
      if (outcome === undefined) return because(event, "release_incomplete");
      const purchase = outcome !== "delivered" ? null : purchaseOf({
        reference: filledText(said.for),
        clickId: filledText(said.for_click_id),
      });
      const hand = { outcome, purchase, recordedAt, eventId: event.eventId };
      const [by, why] = [filledText(said.by), filledText(said.why)];
      return { ...base, kind, orderId, hand, by, why };
    }
    case "chain_reading": {
      const look = readChainFields(said, { readAt, digest, erased: false });
      return look === null
        ? because(event, "look_incomplete")
        : { ...base, kind, orderId, look };
    }
    case "witness_required": {
      const change = readWitnessRule(said, { recordedAt, digest });
      return change === null
        ? because(event, "rule_incomplete")
        : { ...base, kind, change };
    }
    case "session_created":
    case "order_expected": {
      const expectation = expectationOf(event, said);
      if (expectation === null) {
        const isSession = kind === "session_created";
        const what = isSession ? "session" : "expectation";
        return because(event, `${what}_without_id`);
      }
      const { sessionId, clickId } = expectation;
      return { ...base, kind, sessionId, clickId, expectation };
    }
    case "delivery_unanswered":
      return { ...base, kind, deliveryId: filledText(said.event_id) };
    default:
      kind satisfies never;
      return because(event, "unknown_kind");
  }
}

/** What every fact has; the ids of what it concerns are still null. */
function baseOf(event: RecordedEvent, label: ActivityLabel): FactBase {
  const { position, eventId, recordedAt, digest } = event;
  return {
    ...{ position, eventId, recordedAt, digest, label },
    ...{ orderId: null, userId: null, sessionId: null, clickId: null },
  };
}

/** The fact of an event that says only whom it concerns. */
function because(
  event: RecordedEvent,
  code: UnreadableReason["code"],
  problems: readonly string[] = [],
): UnreadableFact {
  const { kind, type, orderId, userId, clickId } = event;
  const isWebhook = kind === "webhook";
  const label = !isWebhook
    ? kind
    : type === null
    ? "quarantined"
    : "unrecognised";
  // A delivery that names an order shows that the order exists.
  const isOfOrder = kind !== "user_snapshot" && !isExpectationKind(kind);
  return {
    ...baseOf(event, label),
    kind: "unreadable",
    orderId: isOfOrder ? orderId : null,
    userId: isWebhook || kind === "user_snapshot" ? userId : null,
    clickId: isWebhook ? linking(clickId) : null,
    reason: code === "webhook_unrecognised" ? { code, problems } : { code },
  };
}

const utf8 = new TextDecoder();
const claims = orderMachine.webhooks;
/** The most bytes of a contract's input data that a claim keeps. */
const LONGEST_INPUT_DATA = 4096;

function readWebhook(event: RecordedEvent): Fact {
  const text = utf8.decode(event.body);
  const webhook = cleaned(parseWebhook(text), text);
  if (webhook.type === "unrecognised") {
    return because(event, "webhook_unrecognised", webhook.reasons);
  }
  const fact: WebhookFact = {
    ...baseOf(event, webhook.type),
    kind: "webhook",
    userId: event.userId,
    ...SAYS_NOTHING,
  };
  if (webhook.type === "test") return { ...fact, userId: null };
  if (webhook.type === "otp_status") {
    return {
      ...fact,
      otp: {
        recordedAt: event.recordedAt,
        eventId: event.eventId,
        status: claimName(webhook.status) ?? "unknown",
        detail: claimText(webhook.status_detail),
        phoneCountry: claimCode(webhook.phone_country_code),
      },
    };
  }
  const verification = webhook.user?.verification_status;
  const lkyc = claimName(verification?.lkyc?.state);
  const fkyc = claimName(verification?.fkyc?.state);
  if (isOrderEvent(webhook)) {
    return { ...fact, ...claimOf(event, webhook), lkyc, fkyc };
  }
  const rejectType = webhook.type === "verify_failed"
    ? claimName(webhook.reject_type)
    : null;
  return { ...fact, lkyc, fkyc, rejectType };
}

/** What a webhook says of its order. */
function claimOf(
  event: RecordedEvent,
  { order, user, type, hpp_session_id }: OrderEvent,
): Partial<WebhookFact> {
  const { orderId, digest } = event;
  const clickId = linking(event.clickId);
  const of = { orderId, clickId, sessionId: claimId(hpp_session_id) };
  return orderId === null ? of : {
    ...of,
    claim: claims[type],
    body: {
      digest,
      currency: claimCode(order.quote),
      currencyAmount: claimName(order.quote_amount),
      commodity: claimCode(order.base),
      cryptoAmount: claimName(order.base_amount),
      address: claimText(order.address),
      txId: claimText(order.transaction_id),
      userId: claimId(user?.user_id),
      clickId,
      externalOrderId: claimId(order.external_order_id),
      failReason: claimText(order.error_code),
      scAddress: claimText(order.partner_data?.sc_address),
      scInputData: claimText(
        order.partner_data?.sc_input_data,
        LONGEST_INPUT_DATA,
      ),
    },
    ...isMarkedErased(event) && { erased: true },
  };
}

const SAYS_NOTHING = {
  ...{ claim: null, body: null, lkyc: null, fkyc: null },
  ...{ rejectType: null, otp: null },
} as const;

/** Decodes what is kept of an erased event as if it were that event. */
function readRedacted(
  event: RecordedEvent,
  body: Readonly<Record<string, unknown>>,
): Fact {
  const redacts = objectOf(body.redacts);
  const kind = redacts?.kind;
  const eventId = filledText(redacts?.event_id);
  // Where nothing else stands for the event itself, it is counted as that.
  const label = eventId === null &&
      (kind === "order_snapshot" || kind === "chain_reading")
    ? kind
    : "order_redacted";
  const base: FactBase = {
    ...baseOf(event, label),
    orderId: event.orderId,
    clickId: linking(event.clickId),
    ...eventId !== null && { redacts: eventId },
  };
  if (kind === "webhook") {
    const type = webhookType(filledText(redacts?.type) ?? "");
    return {
      ...base,
      kind,
      ...SAYS_NOTHING,
      claim: type === null ? null : claims[type],
      body: {
        ...UNSAID,
        ...Object.fromEntries(KEPT_OF_WEBHOOK.map((name) => {
          const { wire, same } = orderField(name);
          const value = filledText(body[wire]);
          return [name, same === "any_case" ? upper(value) : value];
        })),
        digest: base.digest,
        userId: filledText(body.user_id),
        clickId: base.clickId,
      },
    };
  }
  if (kind === "chain_reading") {
    const look = readChainFields(objectOf(body.witness) ?? {}, {
      readAt: effectiveReadAt(event.readAt, event.recordedAt),
      digest: base.digest,
      erased: true,
    });
    return look === null
      ? because(event, "look_incomplete")
      : { ...base, kind, look };
  }
  const reading = readOrder(event);
  if (reading === null) return because(event, "body_not_object");
  return {
    ...base,
    kind: "order_snapshot",
    reading: {
      ...reading,
      match: MATCH_FACTS.find((one) => one === body.match) ?? null,
      erasedTx: body.tx_named === true
        ? "named"
        : body.tx_unreadable === true
        ? "unreadable"
        : null,
    },
  };
}

const UNSAID = emptyRecord(CLAIM_FIELDS);

/** What a session, or an expectation without one, asks for; null without its id. */
function expectationOf(
  { kind, clickId, recordedAt }: RecordedEvent,
  body: Readonly<Record<string, unknown>>,
): Expectation | null {
  const isSession = kind === "session_created";
  const id = filledText(isSession ? body.session_id : body.expectation_id);
  if (id === null) return null;
  const terms = { ...body, ...objectOf(body.expected) };
  const askedMs = typeof body.asked_at === "string"
    ? readQueryTime(body.asked_at)
    : null;
  // An imported event may say anything: what is no duration is ignored.
  const validForMs = Number(filledText(body.valid_for_ms) ?? NaN);
  return {
    id,
    sessionId: isSession ? id : null,
    flowType: isSession ? filledText(body.flow_type) ?? "simple" : null,
    clickId: linking(clickId),
    reference: filledText(body.reference),
    commodity: upper(filledText(terms.commodity)),
    network: filledText(terms.network),
    commodityAmount: filledText(terms.commodity_amount),
    currency: upper(filledText(terms.currency)),
    currencyAmount: filledText(terms.currency_amount),
    walletAddress: filledText(terms.wallet_address),
    userId: filledText(terms.user_id),
    recordedAt,
    // With milliseconds, so that text order is time order.
    askedAt: askedMs === null ? null : new Date(askedMs).toISOString(),
    validForMs: validForMs > 0
      ? Math.min(validForMs, MOST_VALID_FOR_MS)
      : DEFAULT_VALID_FOR_MS,
  };
}
