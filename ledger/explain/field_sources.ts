import type { ExplainedField, FieldValue } from "./explanation.ts";
import { CLAIM_FIELDS, type ClaimField } from "../events/order_facts.ts";
import { type Fact, isExpectation, type WebhookFact } from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  claimedBody,
  type ResolveOptions,
  resolveOrder,
} from "../orders/resolve_order.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { visibleReading } from "../orders/readings.ts";
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
  const reading = latest === null
    ? undefined
    : facts.find((fact) =>
      fact.kind === "order_snapshot" && fact.orderId === fold.orderId &&
      fact.digest === latest.digest && fact.reading.readAt === latest.readAt
    );
  const session = expected === null
    ? undefined
    : facts.find((fact) =>
      isExpectation(fact) &&
      fact.expectation.id === expected.id &&
      fact.expectation.recordedAt === expected.recordedAt
    );
  const webhook = (holds: (fact: WebhookFact) => boolean) =>
    facts.find((fact) =>
      fact.kind === "webhook" && fact.orderId === fold.orderId && holds(fact)
    );
  const read = latest === null ? null : readFields(latest);
  const sourceOf = (
    field: string,
  ): readonly [ExplainedField["source"], Fact | undefined] => {
    if (field.startsWith("expected.")) return ["session", session];
    const claimField = claimFields[field];
    if (
      field === "status"
        ? state.trust === "confirmed"
        : read !== null && (claimField === undefined || read.has(field))
    ) return ["snapshot", reading];
    if (field === "status") {
      return ["webhook", webhook(({ claim }) => claim === state.status)];
    }
    const body = claimField && claimedBody(claims, claimField);
    return [
      "webhook",
      body
        ? webhook(({ claim, digest }) =>
          claim !== null && digest === body.digest
        )
        : undefined,
    ];
  };
  return Object.entries(flattenState(state)).flatMap(([field, value]) => {
    if (derived.test(field)) return [];
    const [source, fact] = sourceOf(field);
    if (fact === undefined) return [];
    const { position, eventId } = fact;
    return [{ field, value, source, position, eventId }];
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
export function flattenState(
  state: OrderState,
): Fields {
  const flat: Record<string, FieldValue> = {};
  // Until somebody says a status there is none, whatever stands in its place.
  const unsaid = state.claimed === null && state.confirmed === null;
  for (const [field, value] of Object.entries(state)) {
    if (hidden.has(field)) continue;
    if (unsaid && (field === "status" || field === "trust")) continue;
    if (field === "transferSeen" && value === false) continue;
    if (field === "anomalies") {
      for (const anomaly of state.anomalies) {
        const { kind, field: of } = anomaly;
        flat[`anomalies.${kind}${of === undefined ? "" : `.${of}`}`] = anomaly;
      }
    } else if (field === "history") {
      flat.history = state.history.map(({ source, status }) =>
        `${source} ${status}`
      ).join(", ");
    } else if (Array.isArray(value)) {
      flat[field] = value.join(", ");
    } else if (typeof value === "object" && value !== null) {
      for (const [inner, of] of Object.entries(value)) {
        const name = `${field}.${inner}`;
        if (of !== null && !hidden.has(name)) flat[name] = String(of);
      }
    } else if (value !== null) {
      flat[field] = String(value);
    }
  }
  for (const [field, value] of Object.entries(flat)) {
    if (value === "") delete flat[field];
  }
  return flat;
}
