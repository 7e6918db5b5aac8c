import type { Order } from "./order.ts";
import { decimal, orderSchema, text } from "./_schemas.ts";

/** Which fields hold what, read off the schema so that there is one truth. */
const fields: readonly (readonly [string, unknown])[] = Object.entries(
  orderSchema.shape,
);
const texts = fields.filter(([, kind]) => kind === text).map(([name]) => name);
const decimals = fields.filter(([, kind]) => kind === decimal)
  .map(([name]) => name);
const digits = /^-?\d+(?:\.\d+)?$/;

/** A list of orders of which nothing needs a second look. */
export interface OrdersList {
  readonly data: readonly Order[];
  readonly next_cursor_id?: string | null;
  readonly total?: unknown;
}

/**
 * Recognises what the schema would accept unchanged, in a tenth of its time;
 * pages are read by the thousand. In doubt it says no, and the schema decides.
 */
export function isPlainOrdersList(body: unknown): body is OrdersList {
  if (!isRecord(body)) return false;
  const { success, data, next_cursor_id: cursor } = body;
  return (success === undefined || success === true) &&
    (cursor === undefined || cursor === null || typeof cursor === "string") &&
    Array.isArray(data) && data.every(isPlainOrder);
}

function isPlainOrder(value: unknown): value is Order {
  if (!isRecord(value)) return false;
  const { order_id: id, status } = value;
  if (typeof id !== "string" || typeof status !== "string") return false;
  if (id === "" || status === "") return false;
  for (const name of texts) {
    const held = value[name];
    if (typeof held !== "string" && held !== undefined && held !== null) {
      return false;
    }
  }
  for (const name of decimals) {
    const held = value[name];
    if (held === undefined || held === null) continue;
    if (typeof held !== "string" || !digits.test(held)) return false;
  }
  return true;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
