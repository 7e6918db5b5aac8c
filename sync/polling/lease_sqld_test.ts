import assert from "node:assert/strict";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { patient } from "../../ledger/testing/patient.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { createPoller } from "./poller.ts";
import { moving, service, startMs } from "../testing/polling_test_kit.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

Deno.test({
  name: "createPoller() on a server shares one lease by the server's clock",
  ignore: !sqldAvailable,
  async fn() {
    await using directory = await temporaryFolder();
    const server = await startSqld({ directory: directory.path });
    const open = () =>
      openLedger({ url: server.url, environment: "sandbox", ...patient });
    const first: Ledger = await open();
    const second: Ledger = await open();
    await using box = service();
    for (let i = 0; i < 25; i++) {
      box.sandbox.createOrder({}, startMs - 3_600_000 - i * 1000);
    }
    try {
      const polls = Promise.all(
        [first, second].map((ledger, i) =>
          createPoller({
            ledger,
            client: box.client,
            holder: `poller-${i}`,
            requestsPerSecond: 1000,
            now: () => box.clock.now(),
          }).once()
        ),
      );
      const reports = await moving(polls, box.clock);
      assert.equal(reports.filter((report) => report.ran).length, 1);
      const stats = await second.stats();
      assert.equal(stats.events.order_snapshot, 25);
      assert.equal(stats.orders, 25);
    } finally {
      await first.close();
      await second.close();
      await server.stop();
    }
  },
});
