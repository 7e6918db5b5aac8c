/** Endpoint, spool and ledger, and nothing else: `ingest_server.ts FILE`. */
import { openLedger } from "../ledger/mod.ts";
import { fileSpool, spoolMover, webhookEndpoint } from "../webhooks/mod.ts";

if (import.meta.main) {
  const [file] = Deno.args;
  const ledger = await openLedger({
    url: `file:${file}`,
    environment: "sandbox",
  });
  const spool = await fileSpool({ directory: `${file}-spool` });
  spoolMover({ spool, take: ledger.appendRecords });
  Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
    },
    webhookEndpoint({
      append: spool.put,
      unanswered: spool.note,
      secrets: ["a-secret-of-the-benchmark-alone"],
    }),
  );
}
