import assert from "node:assert/strict";
import { temporaryLedger } from "../../tests/kit/cli.ts";
import { openDriver } from "../thread/open_driver.ts";
import { type Driver, LedgerError } from "./database.ts";
import {
  holdsLease,
  type Lease,
  releaseLease,
  renewLease,
  takeLease,
} from "./leases.ts";
import { newLedger, select } from "../testing/fold_kit.ts";

const wanted = { name: "poll", holder: "a", leaseMs: 60_000 };

async function take(
  driver: Driver,
  changes: Partial<typeof wanted> = {},
): Promise<Lease> {
  const lease = await takeLease(driver, { ...wanted, ...changes });
  assert.ok("fence" in lease);
  return lease;
}

const write = {
  sql: "INSERT INTO cursors VALUES ('x', '{}', 0)",
  args: [],
};

Deno.test("takeLease() gives a lease to one holder at a time", async () => {
  const driver = await newLedger();
  await take(driver);
  const other = await takeLease(driver, { ...wanted, holder: "b" });
  assert.ok("heldBy" in other);
  assert.equal(other.heldBy, "a");
  assert.ok(other.leftMs > 20_000 && other.leftMs <= 60_000);
  await driver.close();
});

Deno.test("takeLease() gives different leases to different holders", async () => {
  const driver = await newLedger();
  await take(driver);
  await take(driver, { name: "recover", holder: "b" });
  await driver.close();
});

Deno.test("takeLease() hands an expired lease on, by the database's clock", async () => {
  const driver = await newLedger();
  const first = await take(driver, { leaseMs: 20 });
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(await holdsLease(driver, first), true);
  const second = await take(driver, { holder: "b" });
  assert.equal(second.fence, first.fence + 1);
  assert.equal(await holdsLease(driver, first), false);
  await driver.close();
});

Deno.test("takeLease() lets a holder that restarts go on at once", async () => {
  const driver = await newLedger();
  const before = await take(driver);
  const after = await take(driver);
  assert.equal(after.fence, before.fence + 1);
  await assert.rejects(
    driver.batch([...renewLease(before), write], "write"),
    (error) => error instanceof LedgerError && error.code === "conflict",
  );
  await driver.batch([...renewLease(after), write], "write");
  await driver.close();
});

Deno.test("renewLease() aborts the whole batch of a holder that was replaced", async () => {
  const driver = await newLedger();
  const first = await take(driver, { leaseMs: 0 });
  await take(driver, { holder: "b" });
  await assert.rejects(driver.batch([...renewLease(first), write], "write"));
  assert.deepEqual(await select(driver, "SELECT name FROM cursors"), []);
  await driver.close();
});

Deno.test("renewLease() aborts where there never was such a lease", async () => {
  const driver = await newLedger();
  const made = { ...wanted, fence: 1 };
  await assert.rejects(driver.batch([...renewLease(made), write], "write"));
  assert.deepEqual(await select(driver, "SELECT name FROM leases"), []);
  await driver.close();
});

Deno.test("renewLease() lets a slow holder write while nobody has taken over, and renews", async () => {
  const driver = await newLedger();
  const lease = { ...await take(driver, { leaseMs: 0 }), leaseMs: 60_000 };
  await driver.batch([...renewLease(lease), write], "write");
  const other = await takeLease(driver, { ...wanted, holder: "b" });
  assert.ok("heldBy" in other && other.leftMs > 50_000);
  await driver.close();
});

Deno.test("releaseLease() frees the lease for the next", async () => {
  const driver = await newLedger();
  const lease = await take(driver);
  await releaseLease(driver, lease);
  const next = await take(driver, { holder: "b" });
  await releaseLease(driver, lease);
  assert.equal(await holdsLease(driver, next), true);
  assert.ok("heldBy" in await takeLease(driver, wanted));
  await driver.close();
});

Deno.test("takeLease() of a process of this machine does not wait for one that was killed", async () => {
  await using folder = await temporaryLedger();
  const url = folder.url;
  const child = new Deno.Command("deno", {
    args: [
      ...["run", "--no-check", "--allow-env", "--allow-sys", "--allow-read"],
      ...["--allow-write", "--allow-ffi"],
      new URL("../testing/lease_holder.ts", import.meta.url).href,
      url,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  let said = "";
  while (said !== "held\nheld\n") {
    const { value, done } = await reader.read();
    assert.ok(!done, said);
    said += new TextDecoder().decode(value);
  }
  const driver = await openDriver({ url, worker: false });
  const wanted = { name: "poll", holder: "second", leaseMs: 60_000 };
  const held = await takeLease(driver, wanted);
  assert.ok("heldBy" in held, "it lives");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  for (const name of ["poll", "witness"]) {
    const after = await takeLease(driver, { ...wanted, name });
    assert.ok("fence" in after && after.fence === 2, `${name}: it was killed`);
  }
  await driver.close();
});
