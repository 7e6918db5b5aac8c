/** A process that takes a lease, and holds it until it is killed. */
import { newLedger } from "./fold_kit.ts";
import { takeLease } from "../store/leases.ts";

const driver = await newLedger(Deno.args[0]);
const wanted = { name: "poll", holder: "first", leaseMs: 60_000 };
const lease = await takeLease(driver, wanted);
console.log("fence" in lease ? "held" : "not held");
setInterval(() => {}, 1000);
