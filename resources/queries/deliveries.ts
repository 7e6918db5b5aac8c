import { base64 } from "@scure/base";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/webhook_event.ts";
import { defined, messageOf } from "../../core/guards.ts";
import {
  type DeliveryQuery,
  type Ledger,
  type OrderView,
  type QueuedTransition,
  readDelivery,
  type StoredDelivery,
  type SubscriptionStatus,
  type Transition,
} from "../../ledger/mod.ts";
import { fitting, readDeliveryPage } from "../../ledger/for_resources.ts";
import { parseWebhook } from "../../webhooks/mod.ts";
import { flagParam, textParam } from "../../core/settings/params.ts";
import {
  dayAfter,
  dayParam,
  type FilterValues,
  listFilter,
  type Page,
  type PageParams,
  queryOf,
} from "./orders.ts";
import { jsonBytes } from "../../core/bytes.ts";
import type { FiredHistory } from "../../ledger/types.ts";

/** What chooses deliveries. */
export const DELIVERY_FILTERS = {
  quarantined: listFilter(
    flagParam("Only bodies that are not a JSON object with a type"),
    "",
    (quarantined): DeliveryQuery => ({ quarantined }),
  ),
  order: listFilter(
    textParam("Only deliveries that name this order"),
    "<id>",
    (orderId): DeliveryQuery => ({ orderId }),
  ),
  user: listFilter(
    textParam("Only deliveries that name this user"),
    "<id>",
    (userId): DeliveryQuery => ({ userId }),
  ),
  type: {
    ...listFilter(
      textParam("Only deliveries of this type, for example order_complete"),
      "<type>",
      (type): DeliveryQuery => ({ type }),
    ),
    suggested: Object.keys(WEBHOOK_TYPES),
  },
  day: listFilter(
    dayParam("Only deliveries that were received on this day"),
    "<day>",
    (day): DeliveryQuery => ({
      receivedFrom: day,
      receivedBefore: dayAfter(day),
    }),
  ),
};

/** The values of filters; those that were left out are absent. */
type DeliveryFilters = FilterValues<typeof DELIVERY_FILTERS>;

/** One page of deliveries, and how far the list was looked through for it. */
interface DeliveriesPage extends Page<StoredDelivery> {
  /** Up to when, where the page ended because of that; else null. */
  readonly searchedTo: string | null;
}

/**
 * One page of `deliveries list --json`, newest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export function deliveriesPage(
  { driver }: Ledger,
  { cursor, limit, ...filters }: DeliveryFilters & PageParams,
): Promise<DeliveriesPage> {
  const query = queryOf<DeliveryQuery>(DELIVERY_FILTERS, filters);
  const page = defined({ ...query, limit, after: cursor });
  return readDeliveryPage(driver, page);
}

/** A webhook delivery with its body. */
export interface DeliveryDetailJson extends StoredDelivery {
  /** Why it is odd; empty when it is not. */
  readonly reasons: readonly string[];
  /** The body as text; null when it is not UTF-8, or was erased. */
  readonly text: string | null;
  /** The bytes of the body; null when it was erased. */
  readonly base64: string | null;
}

/** One delivery as `deliveries show --json` prints it. */
export async function deliveryDetail(
  ledger: Ledger,
  id: string,
): Promise<DeliveryDetailJson | null> {
  const found = await readDelivery(ledger.driver, id);
  if (found === null) return null;
  const { body, ...delivery } = found;
  return {
    ...delivery,
    reasons: body === null ? [] : reasonsOf(body),
    text: body === null ? null : utf8(body),
    base64: body === null ? null : base64.encode(body),
  };
}

/** The text of a body; null when its bytes are not UTF-8. */
function utf8(body: Uint8Array<ArrayBuffer>): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(body);
  } catch {
    return null;
  }
}

function reasonsOf(body: Uint8Array<ArrayBuffer>): readonly string[] {
  try {
    const webhook = parseWebhook(body);
    if (webhook.type === "unrecognised") return webhook.reasons;
    const { why } = classify(bodyValue(body));
    return why === null ? [] : [why];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** Which transitions to read. */
interface TransitionParams {
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** Only those of orders, or of users. */
  readonly entity?: "order" | "user";
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those of which this is true. */
  readonly on?: (transition: Transition) => boolean;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** A transition, and what is decided of its order now. */
export interface FeedEntry extends Transition {
  /** Whether to release the goods by what is known now; null of a user. */
  readonly release: OrderView["release"] | null;
  /** Why, one code; null of a user. */
  readonly releaseReason: OrderView["releaseReason"] | null;
}

/** Transitions of a feed, in the order in which they were logged. */
export interface TransitionsJson {
  /** The transitions. */
  readonly items: readonly FeedEntry[];
  /** What to pass as `after` next: the feed has no last page. */
  readonly next: number;
}

/** Transitions read at once where most may be passed over. */
const LOOKED_THROUGH_AT_ONCE = 1000;

/**
 * Reads the feed of transitions from a place on. Where `on` passes over many,
 * a call reads a thousand, and `next` says how far it came: with a `next` that
 * is greater than `after`, there may be more.
 *
 * @throws {RangeError} When the limit is wrong.
 */
export async function transitionsAfter(
  ledger: Ledger,
  params: TransitionParams,
): Promise<TransitionsJson> {
  const { after = 0, entity, id, on = () => true, limit = 100 } = params;
  const isFiltered = params.on !== undefined ||
    // Of one order or user they are few; of all users they may be millions.
    (entity !== undefined && id === undefined);
  const read = await ledger.transitions(defined({
    after,
    id,
    entity: id === undefined ? undefined : entity,
    limit: isFiltered ? LOOKED_THROUGH_AT_ONCE : limit,
  }));
  const found = read.filter((one) =>
    (entity === undefined || one.entity === entity) && on(one)
  );
  const entries = await withReleases(ledger, found.slice(0, limit));
  const items = fitting(entries, jsonBytes);
  // Cut, the feed goes on after the last that is given.
  const next = items.length === limit || items.length < found.length
    ? items.at(-1)
    : read.at(-1);
  return { items, next: next?.seq ?? after };
}

/** States beside each transition what is decided of its order now. */
async function withReleases(
  ledger: Ledger,
  transitions: readonly Transition[],
): Promise<FeedEntry[]> {
  const orders = transitions.filter(({ entity }) => entity === "order");
  const ids = [...new Set(orders.map(({ id }) => id))];
  const releases = await ledger.orders.getMany(ids);
  return transitions.map((one) => {
    const now = one.entity === "order" ? releases.get(one.id) : undefined;
    return {
      ...one,
      release: now?.release ?? null,
      releaseReason: now?.releaseReason ?? null,
    };
  });
}

/** Progress of a subscription, and its dead letters. */
export interface SubscriptionJson extends SubscriptionStatus {
  /** Its dead letters, by order of the log. */
  readonly deadLetters: readonly (QueuedTransition & {
    readonly name: string;
  })[];
}

/**
 * How many dead letters are tried again, and how many others are tried at once.
 */
export interface Retried {
  /** Dead letters that are tried again. */
  readonly retried: number;
  /** Others that are tried at once. */
  readonly hastened: number;
}

/** How many dead letters were dropped. */
export interface Dropped {
  /** Dead letters that were dropped. */
  readonly dropped: number;
}

/** Whether the target was on before. */
export interface Stopped {
  /** Whether the target was on before. */
  readonly stopped: boolean;
}

/** Whether the target was switched off before. */
export interface Resumed {
  /** Whether the target was switched off before. */
  readonly resumed: boolean;
}

/** How many states will be sent. */
export interface Fired {
  /** States that subscriptions will receive. */
  readonly fired: number;
}

/** How much of the past a subscription receives. */
export interface FiredHistoryJson extends FiredHistory {
  /** How many it will receive. */
  readonly fired: number;
}

/** Every subscription as `subscriptions list --json` prints it. */
export async function subscriptionList(
  ledger: Ledger,
): Promise<SubscriptionJson[]> {
  const list: SubscriptionJson[] = [];
  for (const status of await ledger.subscriptions.list()) {
    const { name } = status;
    const dead = await ledger.subscriptions.deadLetters(name);
    const deadLetters = dead.map((letter) => ({ name, ...letter }));
    list.push({ ...status, deadLetters });
  }
  return list;
}
