import type { Ledger } from "../../ledger/mod.ts";
import { type MonthJson, monthJson } from "../views/month_view.ts";

/** Whether a text is a month that books can have: `2026-11`. */
export function isMonth(text: string): boolean {
  return /^[12]\d{3}-(0[1-9]|1[0-2])$/.test(text);
}

/** The closed months as `month list --json` prints them. */
export async function* closedMonths(
  ledger: Ledger,
): AsyncGenerator<MonthJson> {
  for await (const close of ledger.months.list()) yield monthJson(close);
}
