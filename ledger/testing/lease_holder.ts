/** A process that takes two leases, and holds them until it is killed. */
import { newLedger } from "./fold_kit.ts";
import { takeLease } from "../store/leases.ts";

const driver = await newLedger(Deno.args[0]);
const wanted = { holder: "first", leaseMs: 60_000 };
for (const name of ["poll", "witness"]) {
  const lease = await takeLease(driver, { name, ...wanted });
  console.log("fence" in lease ? "held" : "not held");
}
setInterval(() => {}, 1000);
