/**
 * A process of its own that appends events and projects, for tests.
 *
 * Arguments: address of the ledger, a number for this process, and how many
 * events it appends.
 */
import { openLedger } from "../open_ledger.ts";
import { patient } from "./patient.ts";
import { testEvents } from "./projection_test_events.ts";

const [url = "", number = "", count = ""] = Deno.args;
await using ledger = await openLedger({
  url,
  environment: "sandbox",
  ...patient,
});
let appending = true;
async function append(): Promise<void> {
  for (const event of testEvents(Number(number), Number(count))) {
    await ledger.append([event]);
  }
  appending = false;
}
async function project(): Promise<void> {
  while (appending) await ledger.project();
}
await Promise.all([append(), project()]);
