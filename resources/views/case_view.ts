import type { LedgerTypes, OrderCase } from "../../ledger/mod.ts";
import { describeCase, describeCaseEntry } from "../wording/case.ts";
import type { Worded } from "./order_view.ts";
import { printable } from "../../core/printable.ts";
import { minuteText, wrap } from "./text.ts";

/** The case of an order, with what people did and their notes. */
export interface CaseJson {
  /** The order. */
  readonly orderId: string;
  /**
   * Its state; null when the order does not wait and nobody has acted on it.
   */
  readonly case: Worded<OrderCase> | null;
  /** What people did about it and their notes, oldest first. */
  readonly history: readonly Worded<LedgerTypes.CaseEntry>[];
}

/** A case as `--json` prints it. */
export function caseJson(
  { orderId, case: found, history }: LedgerTypes.RecordedCase,
): CaseJson {
  return {
    orderId,
    case: found && { ...found, message: describeCase(found) },
    history: historyJson(history),
  };
}

/** What people did about an order, each with its sentence. */
export function historyJson(
  history: readonly LedgerTypes.CaseEntry[],
): readonly Worded<LedgerTypes.CaseEntry>[] {
  return history.map((entry) => ({
    ...entry,
    message: describeCaseEntry(entry),
  }));
}

/** A case for people: its state, then what was done about it. */
export function caseLines(
  { orderId, case: found, history }: CaseJson,
  columns: number | null,
): string[] {
  return [
    wrap(
      printable(
        `Order ${orderId}: ${found?.message ?? "nothing waits for a person"}`,
      ),
      columns,
      2,
    ),
    ...history.map(({ at, message }) => {
      const time = minuteText(at);
      return wrap(printable(`  ${time}  ${message}`), columns, 20);
    }),
  ];
}
