import { hex } from "@scure/base";
import { isRecord } from "../../core/guards.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  type HiddenValue,
  selectValueLengths,
  selectValues,
  type ValueKind,
} from "../store/tables/erasure/erased_values.ts";
import { selectKeys } from "../store/tables/erasure/hidden_names.ts";
import { comparedId, hideName, isSameId } from "./erased_names.ts";
import type { PersonEvents } from "./person_events.ts";

/** Ids of a person, as they are compared, and what kind of value each is. */
export type PersonValues = ReadonlyMap<string, ValueKind>;

/** Finds which of some texts are erased values, compared as ids. */
export type FindValues = (
  texts: Iterable<string>,
) => Promise<ReadonlyMap<string, ValueKind>>;

/**
 * The ids by which a person is recognised wherever they stand. Only what the
 * service has shown and what the partner recorded counts: a webhook that names
 * the person beside another id says nothing of that id.
 *
 * @param person What the ledger holds of the person.
 * @param ownClicks Those of the person's click ids that are nobody else's.
 */
export function personValues(
  { userId, events, orderIds }: Pick<
    PersonEvents,
    "userId" | "events" | "orderIds"
  >,
  ownClicks: ReadonlySet<string>,
): PersonValues {
  const values = new Map<string, ValueKind>();
  const own = (id: string) => values.set(comparedId(id), "own");
  let isShown = orderIds.length > 0;
  for (const { event } of events) {
    const { kind, clickId } = event;
    const isReading = kind === "order_snapshot" || kind === "user_snapshot";
    if (kind === "user_snapshot" && isSameId(event.userId, userId)) {
      isShown = true;
    }
    if (isReading) { for (const id of cardIds(event)) own(id); }
    if (clickId === null || !ownClicks.has(clickId)) continue;
    if (isExpectationKind(kind)) own(clickId);
    else if (isReading && !values.has(comparedId(clickId))) {
      values.set(comparedId(clickId), "chosen");
    }
  }
  if (isShown) own(userId);
  else values.set(comparedId(userId), "chosen");
  return values;
}

function cardIds({ body }: RecordedEvent): string[] {
  if (body === null) return [];
  const ids: string[] = [];
  try {
    const root: unknown = JSON.parse(new TextDecoder().decode(body));
    for (const left = [root]; left.length > 0;) {
      const next = left.pop();
      if (Array.isArray(next)) left.push(...next);
      else if (isRecord(next)) {
        const { card_id } = next;
        if (typeof card_id === "string" && card_id !== "") ids.push(card_id);
        left.push(...Object.values(next));
      }
    }
  } catch {
    // What is no JSON has no fields.
  }
  return ids;
}

/** Hides the ids of a person. */
export function hideValues(
  key: Uint8Array,
  values: PersonValues,
): HiddenValue[] {
  return [...values].map(([value, kind]) => ({
    hash: hideName(key, "value", value),
    kind,
    length: value.length,
  }));
}

/**
 * Looks up the values of everybody erased.
 *
 * @returns Null where there are none.
 */
export async function storedValues(driver: Driver): Promise<FindValues | null> {
  const [found, keys] = await readPrimary(driver, [
    selectValueLengths,
    selectKeys,
  ]);
  const lengths = new Set(found?.rows.map(([length]) => Number(length)));
  if (lengths.size === 0) return null;
  const secrets = keys?.rows.map(([key]) => key as Uint8Array) ?? [];
  return async (texts) => {
    const hidden = new Map<string, string>();
    for (const text of texts) {
      if (!lengths.has(text.length)) continue;
      for (const key of secrets) {
        hidden.set(hex.encode(hideName(key, "value", text)), text);
      }
    }
    const found = new Map<string, ValueKind>();
    if (hidden.size === 0) return found;
    const [rows] = await readPrimary(driver, [
      selectValues([...hidden.keys()]),
    ]);
    for (const [hash, kind] of rows?.rows ?? []) {
      const text = hidden.get(String(hash));
      if (text !== undefined) found.set(text, kind as ValueKind);
    }
    return found;
  };
}
