import { isFinal } from "../../../ledger/for_sync.ts";
import type { Anomaly, OrderState } from "../../../ledger/mod.ts";
import type { World } from "../world/world.ts";
import { tookBack } from "./took_back.ts";

/** Fields of a row, and what of the ledger's order they decide. */
const DECIDES: Readonly<Record<string, readonly string[]>> = {
  status: ["status", "trust"],
  currency_amount: ["currencyAmount"],
  crypto_amount: ["cryptoAmount"],
  tx_id: ["txId"],
  click_id: ["clickId"],
  changed_at: ["changedAt"],
};

/** What the earlier form of the orders endpoint does not state. */
const NOT_IN_EARLIER_FORM: readonly string[] = ["txId", "failReason"];

/** What a reading states as empty, and a claim says. */
const FILLED_BY_CLAIMS: readonly string[] = ["txId", "failReason"];

const NOT_IN_EARLIER_ROW: ReadonlySet<string> = new Set([
  "payment_type",
  "card_brand",
  "tx_id",
  "additional_data",
]);

/** Whether a fault writes some field of its row otherwise, each time. */
export function isOdd({ sandbox }: World, id: string): boolean {
  return sandbox.oddFields(id).length > 0;
}

/** Whether the row of an order or user has no id. */
export function hasNoId({ sandbox }: World, id: string): boolean {
  const fields = sandbox.oddFields(id);
  return fields.includes("order_id") || fields.includes("user_id");
}

/** Whether the service states this field of an order at all. */
export function isStated({ sandbox }: World, field: string): boolean {
  return sandbox.orderForm === "current" ||
    !NOT_IN_EARLIER_FORM.includes(field);
}

/**
 * Whether a field of an order may differ from the truth for ever: the service
 * does not state it, states it wrongly, or refuses to be asked for it.
 *
 * @param state What the ledger says of the order; null when nothing.
 */
export function isExcused(
  world: World,
  orderId: string,
  field: string,
  state: OrderState | null,
): boolean {
  if (!isStated(world, field) || hasNoId(world, orderId)) return true;
  const odd = world.sandbox.oddFields(orderId);
  if (odd.some((name) => DECIDES[name]?.includes(field))) return true;
  if (field === "changedAt" && isDatedAhead(state)) return true;
  // Without a status no reading denies a claim, which fills what is empty.
  const isClaimed = odd.includes("status") && state?.trust === "claimed";
  if (isClaimed && FILLED_BY_CLAIMS.includes(field)) return true;
  // What is empty is no denial until an order has ended, and of why it failed never:
  // a lie fills it, or what was true before the service took the order's end back.
  const isOpenTo = field === "failReason" ||
    (field === "txId" && state !== null && !isFinal(state.status));
  if (
    isOpenTo && state !== null && !state.confirmed?.[field] &&
    (isLie(world, orderId, state[field]) || tookBack(world, orderId))
  ) return true;
  const wasOdd = state?.anomalies.some((one) =>
    one.kind === "unreadable_field" &&
    DECIDES[one.field ?? ""]?.includes(field)
  );
  if (wasOdd && isDatedAhead(state)) return true;
  // Read in its window, but never asked about what a forger claims of it.
  return world.sandbox.refuses(orderId) && state !== null &&
    state.confirmed !== null && state.trust === "claimed";
}

/** Whether a webhook of something that never happened says this. */
function isLie(
  { sandbox }: World,
  orderId: string,
  text: string | null,
): boolean {
  return text !== null &&
    sandbox.deliveries().some((one) =>
      one.orderId === orderId && one.cause !== "life" && one.body.includes(text)
    );
}

/**
 * Whether the reading that counts has an odd field, and states a change in the
 * future: it counts as changed when it was read, which is later than the change
 * that the same row states once it is put right.
 */
export function hasOddReading(state: OrderState | null): boolean {
  return isDatedAhead(state) &&
    state?.anomalies.some(({ kind }) => kind === "unreadable_field") === true;
}

function isDatedAhead(state: OrderState | null): boolean {
  return state?.anomalies.some((one) =>
    one.kind === "time_in_future" && one.field === "changedAt"
  ) === true;
}

/** Whether a field of a user may differ from the truth for ever. */
export function isExcusedUser(
  { sandbox }: World,
  userId: string,
  field: "lkyc" | "fkyc" | "banned" | "country" | "trust",
): boolean {
  const odd = sandbox.oddFields(userId);
  return odd.includes("user_id") ||
    odd.includes(field.endsWith("kyc") ? `${field}_status` : field);
}

/**
 * The odd fields of an order or user that its state does not tell of.
 *
 * @param anomalies What its state tells.
 */
export function missingAnomalies(
  world: World,
  id: string,
  anomalies: readonly Anomaly[],
): string[] {
  // A row without an id tells nobody of what is odd in it.
  if (hasNoId(world, id)) return [];
  const { sandbox } = world;
  return sandbox.oddFields(id).filter((field) => {
    const [kind, name] = field.endsWith("_at")
      ? ["time_in_future", field.replace("_at", "At")]
      : ["unreadable_field", field];
    if (sandbox.orderForm === "earlier" && NOT_IN_EARLIER_ROW.has(field)) {
      return false;
    }
    return !anomalies.some((one) => one.kind === kind && one.field === name);
  });
}

/**
 * The fields of which the state of an order or user tells that they cannot be
 * read, although the service states them well by now.
 *
 * @param anomalies What its state tells.
 */
export function staleAnomalies(
  world: World,
  id: string,
  anomalies: readonly Anomaly[],
): string[] {
  const { sandbox } = world;
  // What was odd before its row lost its id stays the last reading of it.
  if (hasNoId(world, id)) return [];
  const odd = sandbox.oddFields(id);
  return anomalies.flatMap((one) =>
    one.kind === "unreadable_field" && !odd.includes(one.field) ? one.field : []
  );
}

/** Whether some row of that kind has no id, so that no window is proven. */
export function someHaveNoId(
  world: World,
  entity: "order" | "user",
): boolean {
  const { sandbox } = world;
  return entity === "order"
    ? sandbox.orders().some(({ orderId }) => hasNoId(world, orderId))
    : sandbox.users().some(({ userId }) => hasNoId(world, userId));
}
