/** A process that is told of a release, and never ends with it. */
import { openLedger } from "../open_ledger.ts";

const ledger = await openLedger({
  url: Deno.args[0] ?? "",
  environment: "sandbox",
});
await ledger.project();
await ledger.subscribe(
  "goods",
  { on: "order.release.yes", from: "start" },
  async ({ key }) => {
    console.log(key);
    await new Promise(() => {});
  },
);
setInterval(() => {}, 1000);
