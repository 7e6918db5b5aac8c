/**
 * The two forms that the answer of the orders endpoint has had. The earlier one
 * has fewer fields in a row, and no cursor.
 */
export type OrderForm = "current" | "earlier";

const NOT_IN_EARLIER_FORM: ReadonlySet<string> = new Set([
  "external_order_id",
  "tx_id",
  "processed_through",
  "card_brand",
  "fail_reason",
  "payment_type",
  "additional_data",
  "address",
  "sc_input_data",
]);

/** The row of an order as the earlier form of the answer has it. */
export function earlierForm(
  row: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).filter(([field]) => !NOT_IN_EARLIER_FORM.has(field)),
  );
}
