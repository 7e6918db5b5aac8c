import { isPolled } from "../../ledger/for_sync.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  type Finding,
  found,
  gathered,
  lookedAt,
} from "../../resources/health/finding.ts";
import {
  lookAtStored,
  type StoredLookOptions,
} from "../../resources/health/stored_health.ts";
import type { Config } from "../../core/settings/config.ts";
import type { BackupPlan } from "../ledger_file/ledger_lock.ts";
import { lookAtBackups } from "./backup_health.ts";
import { lookAtDisk, lookAtServe, lookAtSpool } from "./storage_health.ts";
import { readReported, REPORTER } from "./reported_findings.ts";

/** What is looked at. */
export interface LookAroundOptions extends StoredLookOptions {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Where it is, and its spool. */
  readonly config: Pick<Config, "databaseUrl" | "spoolDir">;
  /** What this process knows of itself. @default {it runs no endpoint} */
  readonly own?: () => Promise<readonly Finding[]>;
  /** The backups that it makes. @default {as a running `serve` says} */
  readonly plan?: BackupPlan | undefined;
  /** Folder of the backups. @default {found as `lookAtBackups` says} */
  readonly directory?: string | undefined;
}

/**
 * Health of everything: the ledger, its files and disk, and what each process
 * that works on it reports of itself. Never rejects.
 */
export async function lookAround(
  { ledger, config, own, plan, directory, nowMs, watchdog }: LookAroundOptions,
): Promise<readonly Finding[]> {
  const { driver } = ledger;
  return withFullDisk(gathered(
    await Promise.all([
      lookAtStored(ledger, {
        nowMs,
        ...(watchdog === undefined ? {} : { watchdog }),
      }),
      own === undefined
        ? lookedAt("serve", () => lookAtServe(config, () => isPolled(driver)))
        : lookedAt("storing", own),
      lookedAt("spool", () => lookAtSpool(config, own !== undefined)),
      lookedAt("disk", () => lookAtDisk(config)),
      lookedAt(
        "backups",
        () => lookAtBackups({ config, directory, plan, nowMs }),
      ),
      // Last: what this machine finds of itself comes first.
      lookedAt(
        "storing",
        () => readReported(driver, nowMs, own === undefined ? null : REPORTER),
      ),
    ]),
  ));
}

/** A disk that is too full for a write is full, whatever is left of it. */
function withFullDisk(findings: readonly Finding[]): readonly Finding[] {
  const isFull = findings.some(({ subject, facts }) =>
    subject === "storing" && facts.cause === "full" &&
    facts.reportedBy === undefined
  );
  return !isFull ? findings : findings.map((one) => {
    if (one.code !== "disk_nearly_full") return one;
    const more = `${
      Math.floor(Number(one.facts.freeBytes) / 1024)
    } KiB are free`;
    return found("disk_full", { more, facts: one.facts });
  });
}
