import { type Finding, found } from "../../resources/health/finding.ts";
import type { Config } from "../../core/settings/config.ts";
import { SHORT_SECRET_LENGTH } from "../../core/settings/secrets.ts";
import { assetDecimals } from "../../core/assets/assets.ts";
import { messageOf } from "../../core/guards.ts";
import { findDamage, requireWritable } from "../../ledger/for_ledger_file.ts";
import { type Ledger, LedgerError } from "../../ledger/mod.ts";
import { REFUSAL_ADVICE } from "../../resources/health/storing_health.ts";
import { untilStopped } from "../../core/settings/stoppable.ts";

/** Looks at the settings alone. */
export function lookAtSettings(
  { apiKey, webhookSecrets }: Config,
): readonly Finding[] {
  const count = webhookSecrets.length;
  const isShort = webhookSecrets.some((one) =>
    one.length < SHORT_SECRET_LENGTH
  );
  return [
    found(apiKey === null ? "api_key_missing" : "api_key_set"),
    count === 0
      ? found("webhook_secret_missing")
      : isShort
      ? found("webhook_secret_short", {
        more: `it has less than ${SHORT_SECRET_LENGTH} characters`,
      })
      : found(
        "webhook_secret_set",
        count === 1 ? {} : {
          more: `${count} are valid at once; take the old ones out when the ` +
            "change is over",
        },
      ),
  ];
}

/** Orders whose assets are looked up, the latest first. */
const ORDERS = 5000;

/**
 * What `doctor` alone looks at of a ledger, because it takes long or belongs to
 * its user: does it take writes, are its pages whole, are its assets known?
 */
export async function lookIntoLedger(
  ledger: Ledger,
  fileRefusal: string | null,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return [
    await writable(ledger, fileRefusal),
    await integrity(ledger),
    await assets(ledger, signal),
  ];
}

async function writable(
  { driver, environment }: Ledger,
  fileRefusal: string | null,
): Promise<Finding> {
  const refused = (more: string) => found("ledger_refuses", { more });
  if (fileRefusal !== null) return refused(fileRefusal);
  try {
    const version = await requireWritable(driver);
    const more = `its environment is ${environment}, its SQLite ${version}`;
    return found("ledger_writable", { more });
  } catch (error) {
    const next = error instanceof LedgerError
      ? REFUSAL_ADVICE[error.code]
      : undefined;
    return found("ledger_refuses", {
      more: messageOf(error),
      ...next !== undefined && { next },
    });
  }
}

async function integrity({ driver }: Ledger): Promise<Finding> {
  if (driver.location === "remote") return found("pages_unseen");
  const damage = await findDamage(driver);
  return damage === null
    ? found("pages_intact")
    : found("pages_damaged", { more: damage });
}

async function assets(ledger: Ledger, signal: AbortSignal): Promise<Finding> {
  const unknown = new Set<string>();
  const table = ledger.environment === "sandbox" ? "sandbox" : "production";
  let looked = 0;
  for await (const order of untilStopped(ledger.orders.list({}), signal)) {
    if (++looked > ORDERS) break;
    const { commodity, network } = order;
    if (commodity === null || network === null) continue;
    if (assetDecimals(table, commodity, network) === null) {
      unknown.add(`${commodity} on ${network}`);
    }
  }
  return unknown.size === 0
    ? found("assets_known")
    : found("assets_unknown", { more: [...unknown].sort().join(", ") });
}
