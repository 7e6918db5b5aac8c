import type { Ledger } from "../ledger/mod.ts";
import { events } from "./events.ts";

/** Events of one append. */
const batch = 2_000;

/** Appends `count` events, from the number `first` on. */
export async function fillLedger(
  ledger: Ledger,
  { count, first = 0 }: { readonly count: number; readonly first?: number },
): Promise<void> {
  for (let at = first; at < first + count; at += batch) {
    await ledger.append(events(Math.min(batch, first + count - at), at));
  }
}
