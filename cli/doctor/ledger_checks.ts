import { open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeChainBreak } from "../../resources/wording/damage_reason.ts";
import { messageOf } from "../../core/guards.ts";
import { assetDecimals } from "../../client/mod.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import { findDamage, requireWritable } from "../../ledger/for_ledger_file.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { Config } from "../../settings/config.ts";
import { untilStopped } from "../../settings/stoppable.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** More events than this waiting to be folded gets a warning. */
const LAG_NOTED = 1000;

/** Looks at the ledger: does it take writes, is it whole, is it folded? */
export async function ledgerChecks(
  ledger: Ledger,
  { fileRefusal, signal }: {
    /** What {@linkcode writeRefusal} said before the ledger was opened. */
    readonly fileRefusal: string | null;
    readonly signal: AbortSignal;
  },
): Promise<Check[]> {
  return [
    await writable(ledger, fileRefusal),
    await integrity(ledger),
    await folded(ledger),
    await evidence(ledger),
    await assets(ledger, signal),
  ];
}

/** A ledger that is not there yet: whether `serve` can make it. */
export async function missingLedgerCheck(
  config: Pick<Config, "databaseUrl">,
): Promise<Check> {
  const there = `There is none yet: ${config.databaseUrl} does not exist`;
  const file = databaseFile(config.databaseUrl);
  const refusal = file === null ? null : await makeRefusal(dirname(file));
  return refusal === null
    ? check(
      "Ledger",
      "warn",
      there,
      "rampkit serve makes it; for another one set RAMPKIT_DATABASE_URL",
    )
    : check(
      "Ledger",
      "fail",
      `${there}, and none can be made there: ${refusal}`,
      "Give the user of serve the right to write the folder, or set " +
        "RAMPKIT_DATABASE_URL to a file elsewhere",
    );
}

/** Why no file can be made in a folder; null where one can be. */
async function makeRefusal(folder: string): Promise<string | null> {
  const probe = join(folder, `.rampkit-doctor-${crypto.randomUUID()}`);
  try {
    await (await open(probe, "wx")).close();
    await unlink(probe);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Why the system does not let this user write the ledger's file; null where it
 * does, or where the ledger is on a server. SQLite reads such a file without a
 * word. To be called before the ledger is opened: closing a file drops every
 * lock that this process has on it.
 */
export async function writeRefusal(
  { databaseUrl }: Pick<Config, "databaseUrl">,
): Promise<string | null> {
  const file = databaseFile(databaseUrl);
  if (file === null) return null;
  try {
    await (await open(file, "r+")).close();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

async function writable(
  ledger: Ledger,
  fileRefusal: string | null,
): Promise<Check> {
  if (fileRefusal !== null) {
    return check(
      "Ledger",
      "fail",
      `Its file cannot be written to: ${fileRefusal}`,
      "Give the user of serve the right to write it and its folder; as " +
        "another user, run doctor as that one",
    );
  }
  try {
    await requireWritable(ledger.driver);
    return check(
      "Ledger",
      "ok",
      `It can be written to; its environment is ${ledger.environment}`,
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
  const damage = await findDamage(ledger.driver);
  return damage === null
    ? check(name, "ok", "Its pages are intact")
    : check(name, "fail", damage, "Restore the last backup that verifies");
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

async function evidence(ledger: Ledger): Promise<Check> {
  const { chain, position } = await ledger.stats();
  if (chain.broken !== null) {
    return check(
      "Evidence",
      "fail",
      describeChainBreak(chain.broken),
      "Change nothing; RUNBOOK.md says what to do when `ledger verify` exits " +
        "with 3",
    );
  }
  const more = chain.position < position ? ", and later ones not yet" : "";
  return check(
    "Evidence",
    "ok",
    `The chain covers ${chain.count} events${more}; \`ledger verify\` ` +
      "computes it again",
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
