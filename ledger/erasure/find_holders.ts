import type { EventKind } from "../machines/event_kind.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  erasedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import {
  type FindingReason,
  selectShown,
} from "../store/tables/erasure/erased_values.ts";
import { comparedId, readErasedNames } from "./erased_names.ts";
import type { FindValues } from "./erased_values.ts";
import { LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";

/** The part of an event that is searched. */
type HolderEvent = Pick<
  RecordedEvent,
  "position" | "kind" | "orderId" | "userId" | "recordedAt" | "body"
>;

/** Kinds of events that may hold an id of a person in any place. */
const COMPARED: ReadonlySet<EventKind> = new Set([
  "webhook",
  "order_snapshot",
  "user_snapshot",
  "session_created",
  "order_expected",
]);

/** Whether events of a kind are compared with the values of erased people. */
function isCompared(kind: EventKind): boolean {
  return COMPARED.has(kind);
}

/** Events that hold a value of somebody erased. */
export interface Holders {
  /** Positions of those that are about nobody else. */
  readonly blank: readonly number[];
  /** Those that a person has to look at. */
  readonly list: readonly {
    readonly position: number;
    readonly why: FindingReason;
  }[];
}

/** No holders. */
export const NO_HOLDERS: Holders = { blank: [], list: [] };

/**
 * Finds the events that hold a value of somebody erased as a whole text,
 * wherever it stands in the body.
 *
 * @param events The events; those of a user who came back are passed over.
 * @param find Says what is such a value.
 */
export async function findHolders(
  driver: Driver,
  events: readonly HolderEvent[],
  find: FindValues,
): Promise<Holders> {
  const read = events.flatMap((event) =>
    event.body === null || !isCompared(event.kind)
      ? []
      : [{ event, ...bodyTexts(event.body) }]
  );
  const texts = new Set(read.flatMap(({ texts }) => [...texts]));
  const values = await find(texts);
  if (values.size === 0) return NO_HOLDERS;
  const hits = read.flatMap(({ event, isJson, texts }) => {
    const kinds = [...texts].flatMap((text) => values.get(text) ?? []);
    if (kinds.length === 0) return [];
    return [{ event, isJson, isOwn: kinds.includes("own") }];
  });
  if (hits.length === 0) return NO_HOLDERS;
  const { isBack, isOthers } = await ownersOf(
    driver,
    hits.map(({ event }) => event),
  );
  const blank: number[] = [];
  const list: Holders["list"][number][] = [];
  for (const { event, isJson, isOwn } of hits) {
    const { position } = event;
    if (isBack(event)) continue;
    if (!isJson) list.push({ position, why: "not_json" });
    else if (!isOwn) list.push({ position, why: "chosen_click_id" });
    else if (isOthers(event)) list.push({ position, why: "other_person" });
    else blank.push(position);
  }
  return { blank, list };
}

/** The people whom events are about. */
async function ownersOf(driver: Driver, events: readonly HolderEvent[]) {
  const orderIds = [...new Set(events.flatMap(({ orderId }) => orderId ?? []))];
  const userIds = [...new Set(events.flatMap(({ userId }) => userId ?? []))];
  const [orders, users, erased] = await readPrimary(driver, [
    selectShown("order", orderIds),
    selectShown("user", userIds),
    selectErasedOrders(orderIds),
  ]);
  const shownOrders = new Set(orders?.rows.map(([id]) => String(id)));
  const shownUsers = new Set(users?.rows.map(([id]) => String(id)));
  const erasedIds = erasedOrders(erased);
  const names = await readErasedNames(driver, "user", userIds);
  const isBack = ({ userId, recordedAt }: HolderEvent) => {
    const name = names.get(userId ?? "");
    return name !== undefined && name.returnedAt !== null &&
      recordedAt > name.erasedAt;
  };
  const isOthers = ({ kind, orderId, userId }: HolderEvent) =>
    // What the service shows is about whom it shows.
    kind === "order_snapshot" || kind === "user_snapshot" ||
    (orderId !== null && shownOrders.has(orderId) && !erasedIds.has(orderId)) ||
    (userId !== null && shownUsers.has(userId) && !names.has(userId));
  return { isBack, isOthers };
}

/** The texts of a body that may be ids. */
export interface BodyTexts {
  /** Whether the body is JSON. */
  readonly isJson: boolean;
  /**
   * Its whole string values, as ids are compared; of a body that is not JSON,
   * the parts between characters that no id has.
   */
  readonly texts: ReadonlySet<string>;
}

/** A string of a JSON text; a colon follows the name of a field. */
const LITERAL = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

const decoder = new TextDecoder();

/**
 * Reads the texts of a body that may be ids, wherever they stand in it.
 *
 * @param body The exact bytes.
 */
export function bodyTexts(body: Uint8Array): BodyTexts {
  const texts = new Set<string>();
  const add = (text: string) => {
    if (text !== "" && text.length <= LONGEST_IDENTIFIER) {
      texts.add(comparedId(text));
    }
  };
  const text = decoder.decode(body);
  try {
    JSON.parse(text);
  } catch {
    for (const part of text.split(/[^\w.:-]+/)) add(part);
    return { isJson: false, texts };
  }
  // From the text: of two fields of one name a parser keeps the last alone.
  for (const [literal, colon] of text.matchAll(LITERAL)) {
    if (colon === undefined) add(JSON.parse(literal.trimEnd()));
  }
  return { isJson: true, texts };
}
