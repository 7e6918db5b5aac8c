import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Tests that also run over a client of `@libsql/client`. */
const CONTRACTS = [
  "ledger/testing/client_suite.ts",
  "ledger/store/connections/driver_contract_test.ts",
  "ledger/store/event_log_test.ts",
  "ledger/erasure/erasures_test.ts",
  "ledger/projection/databases_test.ts",
  "ledger/transfer/move_test.ts",
];

Deno.test("a ledger behind a client of @libsql/client, native code included, keeps every contract", async () => {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: [
      ...["test", "--no-check", "--filter", "/[cC]lient/"],
      ...["--allow-env", "--allow-sys", "--allow-read", "--allow-write"],
      ...["--allow-net=127.0.0.1,localhost", "--allow-run"],
      // The package's native code; ours needs none.
      "--allow-ffi",
      ...CONTRACTS,
    ],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.equal(code, 0, said + new TextDecoder().decode(stderr));
  const passed = Number(/(\d+) passed/.exec(said)?.[1]);
  assert.ok(passed > 40, said);
});
