import type { ExplainedField, FieldValue } from "./explanation.ts";
import { CLAIM_FIELDS, type ClaimField } from "../events/order_facts.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  claimedBody,
  type ResolveOptions,
  resolveOrder,
  visibleReading,
} from "../orders/order_status.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { orderState } from "../states/state_of_order.ts";
import type { OrderState } from "../states/order_state.ts";

/** What people see of a state, by dotted name. */
export type Fields = Readonly<Record<string, FieldValue>>;

/** By the name of the field in what is explained. */
const claimFields: Readonly<Record<string, ClaimField>> = {
  ...Object.fromEntries(CLAIM_FIELDS.map((field) => [field, field])),
  "smartContract.address": "scAddress",
  "smartContract.inputData": "scInputData",
};

/** Fields that no single event states: they are worked out. */
const derived =
  /^(trust|outcome|release|attention|history|sessions|transferSeen|(anomalies|byHand)\b.*)$/;

/** The fields of a state that have a value and are stated by one event. */
export function fieldSources(
  fold: OrderFold,
  facts: readonly Fact[],
  options: ResolveOptions,
): ExplainedField[] {
  const state = orderState(fold, options);
  const { claims, assets } = resolveOrder(fold, options);
  const { expected } = matchExpectations(fold, assets);
  const latest = visibleReading(fold);
  const read = latest && readFields(latest);
  const sourceOf = (
    field: string,
  ): readonly [ExplainedField["source"], (fact: Fact) => boolean] => {
    if (field.startsWith("expected.")) {
      return [
        "session",
        (fact) =>
          isExpectation(fact) && fact.expectation.id === expected?.id &&
          fact.expectation.recordedAt === expected.recordedAt,
      ];
    }
    const isStatus = field === "status";
    const claimField = claimFields[field];
    const isRead = isStatus
      ? state.trust === "confirmed"
      : read && (claimField === undefined || read.has(field));
    if (isRead) {
      return [
        "snapshot",
        (fact) =>
          fact.kind === "order_snapshot" && fact.orderId === fold.orderId &&
          fact.digest === latest?.digest &&
          fact.reading.readAt === latest.readAt,
      ];
    }
    const body = claimField && claimedBody(claims, claimField);
    return [
      "webhook",
      (fact) =>
        fact.kind === "webhook" && fact.orderId === fold.orderId &&
        (isStatus
          ? fact.claim === state.status
          : fact.claim !== null && fact.digest === body?.digest),
    ];
  };
  return Object.entries(flattenState(state)).flatMap(([field, value]) => {
    if (derived.test(field)) return [];
    const [source, states] = sourceOf(field);
    const { position, eventId } = facts.find(states) ?? {};
    return position === undefined || eventId === undefined
      ? []
      : [{ field, value, source, position, eventId }];
  });
}

/** Fields that a reading states. */
function readFields(latest: NonNullable<OrderFold["latest"]>): Set<string> {
  const stated = new Set(
    Object.entries(latest).flatMap(([field, value]) => value ? [field] : []),
  );
  if (stated.has("scInputData")) stated.add("smartContract.inputData");
  return stated;
}

/** Fields that repeat the rest of the state. */
const hidden: ReadonlySet<string> = new Set([
  "orderId",
  "reason",
  "claimed",
  "confirmed",
  "releaseReason",
  "booked",
  "facts",
  "byHand.settled",
]);

/** Fields of the state that people look at, by dotted name. */
export function flattenState(state: OrderState): Fields {
  // Until somebody says a status there is none, whatever stands in its place.
  const isUnsaid = state.claimed === null && state.confirmed === null;
  const flat = Object.entries(state).flatMap(
    ([field, value]): (readonly [string, FieldValue])[] => {
      if (hidden.has(field) || value === null) return [];
      if (isUnsaid && (field === "status" || field === "trust")) return [];
      if (field === "transferSeen" && value === false) return [];
      if (field === "anomalies") {
        return state.anomalies.map((one) => [
          `anomalies.${one.kind}${
            one.field === undefined ? "" : `.${one.field}`
          }`,
          one,
        ]);
      }
      if (field === "history") {
        const said = state.history.map((one) => `${one.source} ${one.status}`);
        return [[field, said.join(", ")]];
      }
      if (Array.isArray(value)) return [[field, value.join(", ")]];
      if (typeof value !== "object") return [[field, String(value)]];
      return Object.entries(value).flatMap(([inner, of]) => {
        const name = `${field}.${inner}`;
        return of === null || hidden.has(name) ? [] : [[name, String(of)]];
      });
    },
  );
  return Object.fromEntries(flat.filter(([, value]) => value !== ""));
}
