import { hostname } from "node:os";
import process from "node:process";
import {
  type Driver,
  isPolled,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import {
  LIMITS,
  type Subject,
  SUBJECTS,
} from "../../resources/health/conditions.ts";
import {
  type Finding,
  found,
  gathered,
  lookedAt,
  stands,
} from "../../resources/health/finding.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  lookAtStored,
  type StoredLookOptions,
} from "../../resources/health/stored_health.ts";
import type { Config } from "../../core/settings/config.ts";
import type { BackupPlan } from "../ledger_file/ledger_lock.ts";
import {
  lookAtBackups,
  lookAtDisk,
  lookAtServe,
  lookAtSpool,
} from "./storage_health.ts";
import { sleep as sleepFor } from "../../core/waiting/waiting.ts";

/** What running processes report of themselves, by their names. */
type Reported = Readonly<Record<string, Report>>;

interface Report {
  readonly atMs: number;
  /** What only the process itself can see. */
  readonly found: readonly Finding[];
  /** What everybody on its machine can see. */
  readonly ofMachine?: readonly Finding[];
}

/** Name under which it is stored. */
const REPORTED = "health";

/** Others read these in the ledger itself, where they are over at once. */
const IN_LEDGER: ReadonlySet<Subject> = new Set(["polling", "waiting"]);

/** A standing problem is stored again after this long, ms. */
const AGAIN_MS = LIMITS.reportedMs / 2;

/** What this machine is called in reports and alarms. */
export const MACHINE: string = hostname().replace(/[^A-Za-z0-9-]/g, "-");

/** The name under which this process reports. */
export const REPORTER: string = `${MACHINE} ${process.pid}`;

/** Reads what processes of a ledger found of themselves lately. */
export async function readReported(
  driver: Driver,
  nowMs: number,
  except: string | null = null,
): Promise<readonly Finding[]> {
  const all = await readSweep<Reported>(driver, REPORTED) ?? {};
  return Object.entries(all)
    .filter(([name, one]) => name !== except && isRecent(nowMs)(one))
    .flatMap(([name, { found, ofMachine = [] }]) => {
      const host = hostOf(name);
      if (host === MACHINE) return found;
      return [...found, ...ofMachine].map((one) => ({
        ...one,
        detail: `${one.detail} (on ${host})`,
        facts: { ...one.facts, reportedBy: host },
      }));
    });
}

function hostOf(reporter: string): string {
  return reporter.split(" ", 1)[0] ?? "";
}

/** Codes of what machines have reported lately, each behind its machine. */
export async function readHeard(
  driver: Driver,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const all = await readSweep<Reported>(driver, REPORTED) ?? {};
  return new Set(
    Object.entries(all).filter(([, one]) => isRecent(nowMs)(one))
      .flatMap(([name, { found, ofMachine = [] }]) =>
        [...found, ...ofMachine].map(({ code }) => `${hostOf(name)} ${code}`)
      ),
  );
}

/**
 * Stores what a process finds of itself, for `doctor`, console and API in other
 * processes. Nothing is written while nothing stands.
 */
export class FindingsReport {
  readonly #driver: Driver;
  #stored = "[]";
  #storedMs = -Infinity;

  /** @param driver The ledger's database. */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Takes in a look. Fails silently, because every process sees that a ledger
   * takes no writes.
   */
  async take(
    findings: readonly Finding[],
    nowMs: number,
    machine: readonly Finding[] = [],
  ): Promise<void> {
    const found = findings.filter((one) =>
      stands(one) && !IN_LEDGER.has(one.subject)
    );
    const ofMachine = machine.filter(stands);
    const all = [...found, ...ofMachine];
    const text = JSON.stringify(all.map(({ code, about }) => [code, about]));
    const isOld = text !== "[]" && Math.abs(nowMs - this.#storedMs) > AGAIN_MS;
    if (text === this.#stored && !isOld) return;
    try {
      const reports = await readSweep<Reported>(this.#driver, REPORTED) ?? {};
      const others = Object.entries(reports).filter(([name, one]) =>
        name !== REPORTER && isRecent(nowMs)(one)
      );
      const own = all.length === 0
        ? []
        : [[REPORTER, { atMs: nowMs, found, ofMachine }] as const];
      const next: Reported = Object.fromEntries([...others, ...own]);
      await this.#driver.batch([writeSweep(REPORTED, next, nowMs)], "write");
      this.#stored = text;
      this.#storedMs = nowMs;
    } catch {
      // It is tried again with the next look.
    }
  }
}

function isRecent(nowMs: number): (one: { readonly atMs: number }) => boolean {
  return ({ atMs }) => Math.abs(nowMs - atMs) <= LIMITS.reportedMs;
}

/** What is looked at. */
interface LookAroundOptions extends StoredLookOptions {
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

/** What a monitor watches. */
export interface HealthMonitorOptions
  extends Omit<LookAroundOptions, "nowMs" | "watchdog" | "own"> {
  /** What this process knows of itself. */
  readonly own: () => Promise<readonly Finding[]>;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Called with each look of {@linkcode HealthMonitor.run}. */
  readonly onLook: (findings: readonly Finding[]) => void;
  /** Waits. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 15_000;

/**
 * Checks the health of everything again and again, and remembers the latest
 * look.
 */
export class HealthMonitor {
  readonly #options: HealthMonitorOptions;
  readonly #report: FindingsReport;
  #latest: readonly Finding[] = [];
  #own: readonly Finding[] = [];

  /** Looks at nothing yet. */
  constructor(options: HealthMonitorOptions) {
    this.#options = options;
    this.#report = new FindingsReport(options.ledger.driver);
  }

  /** What the latest look found; nothing before the first. */
  get latest(): readonly Finding[] {
    return this.#latest;
  }

  /** Looks now, and reports nothing. Never rejects. */
  async look(): Promise<readonly Finding[]> {
    const { ledger, now } = this.#options;
    this.#latest = await lookAround({
      ...this.#options,
      own: async () => this.#own = await this.#options.own(),
      nowMs: now(),
      // Only a poller keeps how far the watchdog has looked.
      watchdog: await isPolled(ledger.driver).catch(() => false),
    });
    return this.#latest;
  }

  /** Looks until the signal is aborted, and reports each look. */
  async run(signal: AbortSignal): Promise<void> {
    const { now, onLook, sleep = sleepFor } = this.#options;
    while (!signal.aborted) {
      const findings = await this.look();
      onLook(findings);
      const ofThisMachine = findings.filter(({ subject, facts }) =>
        SUBJECTS[subject].isLocal && facts.reportedBy === undefined
      );
      await this.#report.take(this.#own, now(), ofThisMachine);
      await sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
    await this.#report.take([], now());
  }
}
