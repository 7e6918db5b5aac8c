import { hostname } from "node:os";
import process from "node:process";
import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";
import { type Finding, stands } from "../../resources/health/finding.ts";
import { LIMITS } from "../../resources/health/limits.ts";
import type { Subject } from "../../resources/health/subjects.ts";

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
