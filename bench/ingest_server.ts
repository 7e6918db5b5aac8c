/** The endpoint on a ledger and nothing else: `ingest_server.ts FILE`. */
import { openLedger } from "../ledger/mod.ts";
import { webhookEndpoint } from "../webhooks/mod.ts";

if (import.meta.main) {
  const ledger = await openLedger({
    url: `file:${Deno.args[0]}`,
    environment: "sandbox",
  });
  Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
    },
    webhookEndpoint({
      append: ledger.appendDelivery,
      secrets: ["a-secret-of-the-benchmark-alone"],
    }),
  );
}
