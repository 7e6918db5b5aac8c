import { sqldAvailable } from "../../ledger/testing/sqld_test_server.ts";
import { severalReceivers } from "./several_receivers.ts";

Deno.test({
  name:
    "three serves on one sqld lose nothing they answered while their primary is away for a minute",
  ignore: !sqldAvailable,
  fn: () => severalReceivers({ outageMs: 60_000, ordersPerSecond: 10 }),
});
