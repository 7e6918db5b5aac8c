/**
 * A process of its own that appends events and projects, for tests.
 *
 * Arguments: address of the ledger, a number for this process, and how many
 * events it appends.
 */
import { openLedger } from "../ledger.ts";
import { testEvents } from "./projection_test_events.ts";

const [url = "", number = "", count = ""] = Deno.args;
await using ledger = await openLedger({ url, environment: "sandbox" });
const events = testEvents(Number(number), Number(count));
for (let from = 0; from < events.length; from += 5) {
  await ledger.append(events.slice(from, from + 5));
  await ledger.project();
}
