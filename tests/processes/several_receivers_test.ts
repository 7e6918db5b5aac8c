import { severalReceivers } from "./several_receivers.ts";
import { sqldAvailable } from "../../ledger/testing/sqld_test_server.ts";

Deno.test({
  name:
    "three serves with spools of their own on one sqld, killed in turn and without their primary for seconds, lose nothing they answered and fire each transition once",
  ignore: !sqldAvailable,
  fn: () => severalReceivers({ outageMs: 4_000, ordersPerSecond: 8 }),
});
