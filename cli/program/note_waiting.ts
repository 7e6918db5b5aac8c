import type { Ledger } from "../../ledger/mod.ts";
import { readWaiting } from "../../ledger/for_resources.ts";
import { waitingText } from "../../resources/wording/waiting.ts";
import { type Io, note } from "./io.ts";

/** Says on standard error, to people, that deliveries wait, where they do. */
export async function noteWaiting(
  ledger: Ledger,
  io: Io,
  flags: { readonly json?: boolean },
): Promise<void> {
  if (flags.json) return;
  const waiting = await readWaiting(ledger.driver, io.now());
  if (waiting !== null) note(io, waitingText(waiting, io.now()));
}
