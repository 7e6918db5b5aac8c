import { assetDecimals } from "../../client/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { messageOf } from "../logger.ts";
import { untilStopped } from "../stoppable.ts";
import { type Check, check } from "./check.ts";

/** More events than this waiting to be folded is worth a word. */
const LAG_NOTED = 1000;

/** Looks at the ledger: does it take writes, is it whole, is it folded? */
export async function ledgerChecks(
  ledger: Ledger,
  signal: AbortSignal,
): Promise<Check[]> {
  return [
    await writable(ledger),
    await integrity(ledger),
    await folded(ledger),
    await evidence(ledger, signal),
    await assets(ledger, signal),
  ];
}

async function writable(ledger: Ledger): Promise<Check> {
  try {
    await ledger.probe();
    return check(
      "Ledger",
      "ok",
      `It takes writes; its environment is ${ledger.environment}`,
    );
  } catch (error) {
    return check(
      "Ledger",
      "fail",
      messageOf(error),
      "Deliveries wait in the spool until it takes writes again",
    );
  }
}

async function integrity(ledger: Ledger): Promise<Check> {
  const name = "Database";
  if (ledger.driver.location === "remote") {
    return check(name, "skip", "Its server looks after it");
  }
  const [result] = await ledger.driver.batch([{
    sql: "PRAGMA quick_check(1)",
    args: [],
  }], "read");
  const found = String(result?.rows[0]?.[0]);
  return found === "ok"
    ? check(name, "ok", "Its pages are whole")
    : check(name, "fail", found, "Restore the last backup that verifies");
}

async function folded(ledger: Ledger): Promise<Check> {
  const lag = await ledger.lag();
  if (lag <= LAG_NOTED) {
    return check("Projection", "ok", `${lag} events wait to be folded`);
  }
  return check(
    "Projection",
    "warn",
    `${lag} events wait to be folded`,
    "Is `serve` running, in this version? Commands that read catch up as well",
  );
}

async function evidence(ledger: Ledger, signal: AbortSignal): Promise<Check> {
  const { events } = await ledger.chain({ signal });
  return check(
    "Evidence",
    "ok",
    `The chain covers ${events} events; \`ledger verify\` computes it again`,
  );
}

async function assets(ledger: Ledger, signal: AbortSignal): Promise<Check> {
  const unknown = new Set<string>();
  const table = ledger.environment === "sandbox" ? "sandbox" : "production";
  let looked = 0;
  for await (const order of untilStopped(ledger.orders.list({}), signal)) {
    if (++looked > 5000) break;
    const { commodity, network } = order;
    if (commodity === null || network === null) continue;
    if (assetDecimals(table, commodity, network) === null) {
      unknown.add(`${commodity} on ${network}`);
    }
  }
  return unknown.size === 0
    ? check("Assets", "ok", "Every asset of the latest orders is in the table")
    : check(
      "Assets",
      "warn",
      `Not in the table: ${[...unknown].sort().join(", ")}`,
      "Amounts of these are compared digit by digit; a newer version may know them",
    );
}
