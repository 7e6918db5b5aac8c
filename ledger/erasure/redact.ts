/** What is left of an event: what the fold needs, and nothing that names anybody. */
import {
  KEPT_OF_WEBHOOK,
  KEPT_ORDER_FIELDS,
  orderField,
} from "../../core/wire/order_fields.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import { KEPT_OF_CHAIN_READING } from "../events/chain_reading.ts";
import type {
  NewEvent,
  OrderRedactedBody,
  RecordedEvent,
} from "../events/event.ts";
import { exactObject, objectOf, soundRow } from "../events/fact_text.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { readOrder, statedTransactionForm } from "../events/order_reading.ts";
import { derive, ERASED_ID, isMarkedErased, record } from "../events/record.ts";
import type { EventKind } from "../machines/event_kind.ts";
import { hexOf } from "../store/events.ts";

type Chance = { readonly randomBytes: (length: number) => Uint8Array };

interface RedactOptions extends Chance {
  readonly userId?: string | null;
  readonly clickId?: string | null;
  /** How its order compares with what was recorded. */
  readonly match?: MatchFact | null;
}

/** How random names begin. */
const PSEUDONYM = "erased-";

export function newName({ randomBytes }: Chance): string {
  return PSEUDONYM + hexOf(randomBytes(10));
}

export function isPseudonym(name: string | null): boolean {
  return name === null || name.startsWith(PSEUDONYM);
}

/** Whether something was taken out of an event before. */
export function isRedacted({ kind, body }: RecordedEvent): boolean {
  return kind === "order_redacted" || body.length === 0 ||
    isMarkedErased(body);
}

/** Kinds that say nothing of anybody. */
const NAMELESS: ReadonlySet<EventKind> = new Set([
  ...["order_absent", "order_contradicted", "order_released"] as const,
  ...["person_erased", "month_closed", "delivery_unanswered"] as const,
]);

/** Whether there is nothing in it that an erasure takes. */
export function namesNobody(event: RecordedEvent): boolean {
  return NAMELESS.has(event.kind) ||
    (isRedacted(event) && isPseudonym(event.userId) &&
      isPseudonym(event.clickId));
}

/**
 * Takes out of an event what it says but what the fold needs, and gives it other
 * names. It keeps its place and its times; the id of a reading tells what it says,
 * so it gets a new one.
 */
export function redactEvent(
  event: RecordedEvent,
  { randomBytes, userId = null, clickId = null, match = null }: RedactOptions,
): RecordedEvent {
  const { kind, type, orderId } = event;
  const names = named(userId, clickId);
  const root = objectIn(event.body) ?? {};
  // The salt goes, so that nobody can guess what the body was.
  const left = (said: object, as: EventKind = kind): RecordedEvent => {
    const marked = as === "order_redacted" ? said : { ...said, erased: true };
    const body = new TextEncoder().encode(JSON.stringify(marked));
    // Ids of these are random.
    const keepsId = kind === "webhook" || kind === "note";
    const eventId = keepsId
      ? event.eventId
      : ERASED_ID + hexOf(randomBytes(16));
    const salt = randomBytes(16);
    const { columns } = derive(as, body);
    return { ...event, ...columns, kind: as, body, eventId, salt };
  };
  switch (kind) {
    case "webhook":
      return left({
        ...type !== null && { type },
        ...clickId !== null && { click_id: clickId },
        ...userId !== null && { user: { user_id: userId } },
        ...orderId !== null && { order: { id: orderId, ...claimed(root) } },
      });
    case "order_redacted": {
      const { user_id: _user, click_id: _click, ...rest } = root;
      return left({ ...rest, ...names });
    }
    case "order_snapshot":
      if (orderId === null) break;
      return isRedacted(event) ? left({ order_id: orderId }) : left({
        ...{ order_id: orderId, ...names, ...readingFields(event) },
        ...match !== null && { match },
        redacts: { kind },
      }, "order_redacted");
    case "chain_reading": {
      if (orderId === null) break;
      const witness = Object.fromEntries(
        KEPT_OF_CHAIN_READING.filter((name) => root[name] !== undefined)
          .map((name) => [name, root[name]]),
      );
      return left({
        ...{ order_id: orderId, ...names, witness, redacts: { kind } },
      }, "order_redacted");
    }
    case "note": {
      // That a person dealt with an order stays known.
      const { entity, entity_id, action, reasons, author } = root;
      return left(
        entity !== "order"
          ? {}
          : { entity, entity_id, action, reasons, text: "", author },
      );
    }
  }
  return left({});
}

function named(userId: string | null, clickId: string | null) {
  return {
    ...userId !== null && { user_id: userId },
    ...clickId !== null && { click_id: clickId },
  };
}

function objectIn(body: Uint8Array): ReturnType<typeof exactObject> {
  try {
    return exactObject(body);
  } catch {
    return null;
  }
}

/** What a webhook claims of its order. */
function claimed({ order }: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(KEPT_OF_WEBHOOK.flatMap((name) => {
    const field = orderField(name).webhook?.path.split(".")[1];
    const value = field && objectOf(order)?.[field];
    return typeof value === "string" ? [[field, value]] : [];
  }));
}

/**
 * A reading that is made after the erasure, without what was erased. How the order
 * compares with what was recorded is said by those redacted before.
 */
export function redactReading(
  event: NewEvent,
  { userId, clickId }: {
    readonly userId: string | null;
    readonly clickId: string | null;
  },
): NewEvent {
  const { recordedAt, readAt, salt } = event;
  return record("order_redacted", {
    ...{ order_id: event.orderId ?? "", ...named(userId, clickId) },
    ...{ ...readingFields(event), redacts: null },
  }, { recordedAt, readAt, salt });
}

function readingFields(
  event: Pick<RecordedEvent, "digest" | "readAt" | "recordedAt"> & {
    readonly body: Uint8Array;
  },
): Partial<OrderRedactedBody> {
  const read = soundRow(event.body, readOrderRow);
  if (read === null) return {};
  const kept = KEPT_ORDER_FIELDS.flatMap((field) => {
    const value = read.row[field] === null ? "" : read.row[field];
    return typeof value === "string" ? [[field, value]] : [];
  });
  const tx = statedTransactionForm(readOrder(event, read.row, read.odd));
  return {
    ...Object.fromEntries(kept),
    ...tx === "empty" && { tx_id: "" },
    ...tx === "named" && { tx_named: true },
    ...tx === "unreadable" && { tx_unreadable: true },
  };
}
