import type { FaultInjector } from "./fault_injector.ts";
import type { SandboxCounters } from "../engine/counters.ts";

/** A row as it is about to be written. */
type Row = Readonly<Record<string, unknown>>;

/** Deeper than a recursive reader can go. */
const NESTING = 5_000;

/** Fields of an order, and the odd value each is written as. */
const ODD_ORDER: readonly (readonly [field: string, value: unknown])[] = [
  ["payment_type", true],
  ["card_brand", ["VISA"]],
  ["crypto_amount", "N/A"],
  ["crypto_amount", "1,5"],
  ["status", null],
  ["tx_id", { hash: "0x00" }],
  ["currency_amount", true],
  ["click_id", "a\u0000b"],
  ["additional_data", nested(NESTING)],
];

/** Fields of a user, and the odd value each is written as. */
const ODD_USER: readonly (readonly [field: string, value: unknown])[] = [
  ["country", ["USA"]],
  ["lkyc_status", false],
  ["banned", "yes"],
  ["limits", []],
  ["linked_payment_methods", { cards: 1 }],
  ["phone", "+1\u00005"],
];

/** Times in the far future, as orders state them. */
const FAR_TIMES = ["2099-01-01 00:00:00", "9999-12-31 23:59:59"];

/** Fields that the faults of an id change, and what each is written as. */
export function oddFieldsOf(
  injector: FaultInjector,
  entity: "order" | "user",
  id: string,
): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  if (injector.strikesId("oddRow", id)) {
    const table = entity === "order" ? ODD_ORDER : ODD_USER;
    fields.set(...injector.ofId("oddRow.field", id).pick(table));
  }
  if (injector.strikesId("timeAhead", id)) {
    const random = injector.ofId("timeAhead.field", id);
    const field = entity === "order" && random.chance(0.6)
      ? "changed_at"
      : "created_at";
    fields.set(field, random.pick(FAR_TIMES));
  }
  if (injector.strikesId("rowWithoutId", id)) {
    fields.set(entity === "order" ? "order_id" : "user_id", undefined);
  }
  return fields;
}

/** The row with the fields that its id's faults change. */
export function oddRow(
  { injector, counters }: {
    injector: FaultInjector;
    counters: SandboxCounters;
  },
  entity: "order" | "user",
  row: Row,
): Row {
  const { oddRow, timeAhead, rowWithoutId } = injector.faults;
  if (oddRow + timeAhead + rowWithoutId === 0) return row;
  const own = entity === "order" ? "order_id" : "user_id";
  const odd = oddFieldsOf(injector, entity, String(row[own]));
  if (odd.size === 0) return row;
  const out: Record<string, unknown> = { ...row };
  for (const [field, value] of odd) {
    // The earlier form of an order lacks some fields.
    if (!(field in row)) continue;
    if (field === own) counters.rowsWithoutId++;
    else if (field.endsWith("_at")) counters.timesAhead++;
    else counters.oddRows++;
    out[field] = value;
  }
  return out;
}

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

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
