import type { OrderState } from "./order_state.ts";

/** What the rest of the state says again. */
const hidden: ReadonlySet<string> = new Set([
  "orderId",
  "reason",
  "claimed",
  "confirmed",
]);

/** Fields of the state that people look at, dotted, as text. */
export function flattenState(
  state: OrderState,
): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {};
  for (const [field, value] of Object.entries(state)) {
    if (hidden.has(field)) continue;
    if (field === "anomalies") {
      for (const { kind, field: of, detail } of state.anomalies) {
        flat[`anomalies.${kind}${of === undefined ? "" : `.${of}`}`] = detail;
      }
    } else if (field === "history") {
      flat.history = state.history.map(({ source, status }) =>
        `${source} ${status}`
      ).join(", ");
    } else if (Array.isArray(value)) {
      flat[field] = value.join(", ");
    } else if (typeof value === "object" && value !== null) {
      for (const [inner, of] of Object.entries(value)) {
        if (of !== null) flat[`${field}.${inner}`] = String(of);
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
