import type { OrderState } from "../states/order_state.ts";
import type { FieldValue } from "./explanation.ts";

/** What the rest of the state says again. */
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
): Readonly<Record<string, FieldValue>> {
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
