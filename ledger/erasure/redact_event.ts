import { hex } from "@scure/base";
import {
  KEPT_OF_WEBHOOK,
  KEPT_ORDER_FIELDS,
  ORDER_FIELDS,
  orderField,
} from "../../core/wire/order_fields.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import type {
  NewEvent,
  OrderRedactedBody,
  RecordedEvent,
  RedactedEvent,
} from "../events/event.ts";
import {
  type ChainReadingFields,
  KEPT_OF_CHAIN_READING,
} from "../events/chain_reading.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { orderRedacted } from "../events/mint.ts";
import { readFact } from "../events/read_fact.ts";
import { readOrder, statedTransactionForm } from "../events/order_reading.ts";
import { soundRow } from "../events/fact_text.ts";
import {
  bodyCommitment,
  commitmentOf,
  type Erased,
  ERASED_ID,
  type ErasedPart,
  identityCommitment,
} from "../hashes/commitment.ts";

/** Pseudonyms of the people whom an order names. */
export interface OrderNames {
  /** In place of the user id; null for none. */
  readonly userId: string | null;
  /** In place of the click id; null for none. */
  readonly clickId: string | null;
}

/** How an event is redacted. */
export interface RedactOptions {
  /** Which part of it is removed. */
  readonly part: ErasedPart;
  /** Pseudonyms of the people whom its order names. */
  readonly names: OrderNames;
  /** Whether the user that it names is erased; the id of another one stays. */
  readonly isErased: (userId: string) => boolean;
  /** Whether something was kept of its order when its body was erased. */
  readonly isRetained: boolean;
  /** How its order compares with what was recorded; null when unknown. */
  readonly match: MatchFact | null;
  /** Ids of events that were redacted before, and what they are now. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Random bytes for ids and salts. */
  readonly randomBytes: (length: number) => Uint8Array;
}

/** An event that was redacted. */
export interface Redaction {
  /** The event as it is from now on. */
  readonly blanked: RecordedEvent;
  /** Which part of it was removed. */
  readonly part: ErasedPart;
  /** What replaces that part in the evidence chain. */
  readonly commitment: Uint8Array;
  /** What is kept of the order; null for an event that names none. */
  readonly retained: NewEvent | null;
}

/**
 * Removes from an event what it says, and whom it names.
 *
 * @param event The event.
 * @param erased What stands for its body, where that is gone already.
 * @param options How much, and what takes its place.
 * @returns Null when there is nothing to take out.
 */
export function redactEvent(
  event: RecordedEvent,
  erased: Erased | null,
  options: RedactOptions,
): Redaction | null {
  const { body, digest, salt } = event;
  const { part, randomBytes, isRetained } = options;
  if (erased?.part === "identity") return withoutUser(event, erased, options);
  const inner = body !== null && digest !== null && salt !== null
    ? bodyCommitment({ body, digest, salt })
    : erased?.part === "body" && part === "identity"
    ? erased.commitment
    : null;
  if (inner === null) return null;
  const nothing = { body: null, digest: null, salt: null };
  const blanked = part === "body" ? { ...event, ...nothing } : {
    ...event,
    ...nothing,
    // The id of a delivery is random, and a spool knows the delivery by it.
    eventId: event.kind === "webhook"
      ? event.eventId
      : ERASED_ID + hex.encode(randomBytes(16)),
    // What is kept of an event proves which order it is of. Without a body and
    // without that nothing does.
    orderId: body === null && !isRetained ? null : event.orderId,
    userId: event.userId !== null && options.isErased(event.userId)
      ? null
      : event.userId,
    clickId: null,
  };
  return {
    blanked,
    part,
    commitment: part === "body" ? inner : identityCommitment(event, inner),
    retained: body === null
      ? null
      : retainedPart(event, blanked.eventId, options),
  };
}

/** Of an erased event the other user that it names may be erased later. */
function withoutUser(
  event: RecordedEvent,
  { part, commitment }: Erased,
  { isErased }: RedactOptions,
): Redaction | null {
  return event.userId !== null && isErased(event.userId)
    ? { blanked: { ...event, userId: null }, part, commitment, retained: null }
    : null;
}

/** What is kept of the order that an event names. */
function retainedPart(
  event: RecordedEvent,
  eventId: string,
  options: RedactOptions,
): NewEvent | null {
  const { names, match, randomBytes } = options;
  const { kind, orderId } = event;
  if (kind === "order_redacted") return keptAgain(event, options);
  if (
    orderId === null ||
    (kind !== "order_snapshot" && kind !== "webhook" &&
      kind !== "chain_reading")
  ) return null;
  const redacts: RedactedEvent = {
    kind,
    type: event.type,
    event_id: eventId,
    commitment: hex.encode(commitmentOf(event)),
    part: options.part,
  };
  return orderRedacted({
    redacted: {
      ...redactedOrder(
        orderId,
        kind === "webhook"
          ? claimedFields(event)
          : kind === "chain_reading"
          ? lookFields(event)
          : readingFields(event),
        names,
      ),
      ...(match !== null && kind === "order_snapshot" ? { match } : {}),
      redacts,
    },
    readAt: event.readAt,
    recordedAt: event.recordedAt,
    salt: randomBytes(16),
  });
}

/**
 * What was kept of an order before, under other names. Where the event that it
 * was kept of is not redacted with it, nobody is named and nothing is proved.
 */
function keptAgain(
  event: RecordedEvent,
  { part, names, renamed, randomBytes }: RedactOptions,
): NewEvent {
  const { user_id: _user, click_id: _click, redacts, ...rest } = JSON.parse(
    new TextDecoder().decode(event.body ?? new Uint8Array()),
  ) as OrderRedactedBody;
  const eventId = renamed.get(redacts?.event_id ?? "");
  const nobody = { userId: null, clickId: null };
  return orderRedacted({
    redacted: {
      ...redactedOrder(
        rest.order_id,
        rest,
        eventId === undefined ? nobody : names,
      ),
      redacts: redacts && eventId !== undefined
        ? { ...redacts, part, event_id: eventId }
        : redacts,
    },
    readAt: event.readAt,
    recordedAt: event.recordedAt,
    salt: randomBytes(16),
  });
}

/**
 * A reading that is made after the erasure, without what was erased. How the
 * order compares with what was recorded is said by those redacted before.
 *
 * @param event The reading as the service gave it.
 * @param options What stands for whom it names.
 */
export function redactReading(
  event: NewEvent,
  { names }: Pick<RedactOptions, "names">,
): NewEvent {
  const fields = readingFields(event);
  return orderRedacted({
    redacted: {
      ...redactedOrder(event.orderId ?? "", fields, names),
      redacts: null,
    },
    readAt: event.readAt,
    recordedAt: event.recordedAt,
    salt: event.salt,
  });
}

type RetainedFields = Omit<
  OrderRedactedBody,
  "order_id" | "user_id" | "click_id" | "redacts"
>;

function redactedOrder(
  orderId: string,
  fields: RetainedFields,
  { userId, clickId }: OrderNames,
): Omit<OrderRedactedBody, "redacts"> {
  return {
    order_id: orderId,
    ...(userId === null ? {} : { user_id: userId }),
    ...(clickId === null ? {} : { click_id: clickId }),
    ...fields,
  };
}

/** What is kept of a reading of an order: the same, and its id. */
export const RETAINED_OF_READING: ReadonlySet<string> = new Set([
  "order_id",
  ...KEPT_ORDER_FIELDS,
]);

/** What is kept of a webhook about an order. */
export const RETAINED_OF_WEBHOOK: ReadonlySet<string> = new Set([
  "order.id",
  ...KEPT_OF_WEBHOOK.flatMap((name) => orderField(name).webhook?.path ?? []),
]);

function readingFields(
  event: Pick<RecordedEvent, "body" | "digest" | "readAt" | "recordedAt">,
): RetainedFields {
  const { body } = event;
  const read = body === null ? null : soundRow(body, readOrderRow);
  if (read === null) return {};
  const { row } = read;
  const kept = KEPT_ORDER_FIELDS.flatMap((field) => {
    const value = row[field];
    if (value === null) return [[field, ""]];
    return typeof value === "string" ? [[field, value]] : [];
  });
  const tx = statedTransactionForm(
    readOrder(event, read.row, read.odd),
  );
  return {
    ...Object.fromEntries(kept),
    ...(tx === "empty"
      ? { tx_id: "" }
      : tx === "unstated"
      ? {}
      : tx === "named"
      ? { tx_named: true }
      : { tx_unreadable: true }),
  };
}

function lookFields({ body }: RecordedEvent): RetainedFields {
  if (body === null) return {};
  const look = JSON.parse(new TextDecoder().decode(body)) as ChainReadingFields;
  const witness = Object.fromEntries(
    KEPT_OF_CHAIN_READING.flatMap((field) =>
      look[field] === undefined ? [] : [[field, look[field]]]
    ),
  );
  return { witness: witness as unknown as ChainReadingFields };
}

function claimedFields(event: RecordedEvent): RetainedFields {
  const fact = readFact(event);
  if (fact.kind !== "webhook" || fact.body === null) return {};
  const { body } = fact;
  return Object.fromEntries(
    KEPT_OF_WEBHOOK.map((name) => [ORDER_FIELDS[name].wire, body[name]])
      .filter(([, value]) => value !== null),
  );
}
