import { parseExact } from "../../core/json/exact_json.ts";
import { isRecord } from "../../core/guards.ts";
import { objectOf } from "../events/fact_text.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { MatchFact } from "../events/order_facts.ts";
import type { Trust } from "../machines/transition.ts";
import { isFinal } from "../machines/order_rank.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { matchExpectations } from "../outcomes/match.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { orderState } from "../states/state_of_order.ts";
import type { Comparison } from "./erasure_parts.ts";
import type { ClaimedOrder, PersonEvents } from "./person_events.ts";
import { RETAINED_OF_READING, RETAINED_OF_WEBHOOK } from "./redact_event.ts";

/**
 * Why a person should not be erased yet.
 *
 * - `under_way`: an order has no final status that the service has confirmed.
 * - `refund_due`: money of an order has to be given back.
 */
export type ErasureBlock = "under_way" | "refund_due";

/** An order of a person who is to be erased. */
export interface ErasableOrder {
  /** The order. It stays, with its status, times, amounts, fees and asset. */
  readonly orderId: string;
  /** Its status. */
  readonly status: string;
  /** Whether the service has confirmed it. */
  readonly trust: Trust;
  /** Why it should not be erased yet. */
  readonly blocks: readonly ErasureBlock[];
}

/** What an erasure removes. */
export interface ErasurePlan {
  /** The user. */
  readonly userId: string;
  /** Number of events about the person, by kind. */
  readonly events: Readonly<Partial<Record<EventKind, number>>>;
  /**
   * Names of the fields that are removed, as the service writes them, sorted.
   */
  readonly fields: readonly string[];
  /** Orders that the service has shown as the person's, by id. */
  readonly orders: readonly ErasableOrder[];
  /**
   * Orders that only webhooks attribute to the person, by id. What those
   * webhooks say of the person is removed; the orders do not count as the
   * person's.
   */
  readonly claims: readonly ClaimedOrder[];
  /**
   * Result of comparing the remaining events with the person's ids, done or
   * planned; null when they were not compared.
   */
  readonly compared: Comparison | null;
}

/** Works out what an erasure removes. */
export function erasurePlan(
  { userId, events, claims }: Omit<PersonEvents, "spellings" | "orderIds">,
  orders: readonly ErasableOrder[],
): ErasurePlan {
  const kinds: Partial<Record<EventKind, number>> = {};
  const fields = new Set<string>();
  for (const { event } of events) {
    const { kind, body } = event;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (body === null) continue;
    for (const field of fieldNames(body)) {
      if (!stays(event, field)) fields.add(field);
    }
  }
  return {
    userId,
    events: kinds,
    fields: [...fields].sort(),
    orders: orders.toSorted(byOrderId),
    claims: claims.toSorted(byOrderId),
    compared: null,
  };
}

function byOrderId(
  a: { readonly orderId: string },
  b: { readonly orderId: string },
): number {
  return a.orderId < b.orderId ? -1 : 1;
}

/** Whether a field of an event is kept. */
function stays(
  { kind, orderId }: Pick<RecordedEvent, "kind" | "orderId">,
  field: string,
): boolean {
  switch (kind) {
    case "order_snapshot":
      return RETAINED_OF_READING.has(field);
    case "order_redacted":
      return field !== "user_id" && field !== "click_id";
    case "webhook":
      return field === "type" ||
        orderId !== null && RETAINED_OF_WEBHOOK.has(field);
    default:
      return false;
  }
}

/** Names of the fields of a JSON object, those within others after a dot. */
function fieldNames(body: Uint8Array): Set<string> {
  const names = new Set<string>();
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) value.forEach((one) => walk(one, path));
    else if (isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        walk(inner, path === "" ? name : `${path}.${name}`);
      }
    } else if (path !== "") names.add(path);
  };
  try {
    walk(objectOf(parseExact(new TextDecoder().decode(body))), "");
  } catch {
    // A body that is no JSON has no names of fields.
  }
  return names;
}

/** What has to be known of an order before it is erased. */
export function erasableOrder(
  fold: OrderFold,
  options: ResolveOptions,
): ErasableOrder {
  const state = orderState(fold, options);
  const { orderId, status, trust } = state;
  const blocks: ErasureBlock[] = [];
  if (trust !== "confirmed" || !isFinal(status)) blocks.push("under_way");
  if (state.attention.includes("refund_due")) blocks.push("refund_due");
  return { orderId, status, trust, blocks };
}

/**
 * How an order compares with what the partner recorded, so that it stays known
 * when both are redacted; null while no reading can be compared.
 */
export function matchToKeep(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): MatchFact | null {
  return fold.latest === null ? null : matchExpectations(fold, assets).match;
}
