import { mkdir, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { messageOf } from "../../core/guards.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import { fileId, findDamage } from "../../ledger/for_ledger_file.ts";
import { readLastPosition } from "../../ledger/for_sync.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import { describeDamage } from "../../resources/wording/phrases.ts";
import { aborted } from "../../core/settings/values.ts";

/** Attempts to remove the folder of a copy that may just be beginning. */
const MOST_ATTEMPTS = 100;

/** Where a copy is while it is not whole. */
export function partialCopy(file: string): string {
  return `${folderOf(file)}/copy.db`;
}

/**
 * Copies a ledger into a file, which gets its name only when it is whole: until
 * then it is in the folder `FILE.partial`. The file is for its owner alone. The
 * copy itself cannot be interrupted: the signal is looked at before and after.
 */
export async function copyWhole(
  ledger: Ledger,
  file: string,
  { signal, check = () => Promise.resolve() }: {
    readonly signal: AbortSignal;
    readonly check?: (partial: string) => Promise<void>;
  },
): Promise<void> {
  const partial = partialCopy(file);
  try {
    await discardPartial(file);
    await mkdir(folderOf(file), { mode: 0o700 });
    // Nothing waits for a copy that was stopped, so it must not begin.
    signal.throwIfAborted();
    await ledger.backup(partial);
    signal.throwIfAborted();
    await check(partial);
    await rename(partial, file);
  } finally {
    await discardPartial(file);
  }
}

/**
 * Removes what a copy left; whatever else is in its folder stays. Once the
 * folder is gone, the database's thread cannot make the copy any more.
 */
export async function discardPartial(file: string): Promise<void> {
  const folder = folderOf(file);
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    for (const end of ["", "-journal", "-wal", "-shm"]) {
      await unlink(`${partialCopy(file)}${end}`).catch(() => {});
    }
    try {
      return await rmdir(folder);
    } catch {
      if (!await exists(folder)) return;
    }
  }
}

/** Whether there is anything at a path. */
export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(() => true, () => false);
}

function folderOf(file: string): string {
  return `${file}${PARTIAL}`;
}

/** Name of the backup that is begun at a time: sorted by name is by time. */
export function backupName(ms: number): string {
  const time = new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `rampkit-${time}Z.db`;
}

/** The backups among the names of a folder, the newest first. */
export function backupsAmong(names: readonly string[]): readonly Backup[] {
  return names.map(readName).filter((one) => one !== null)
    .sort((a, b) => b.at - a.at);
}

/** A backup in its folder. */
export interface Backup {
  /** Name of its file. */
  readonly name: string;
  /** When it was begun, ms since the epoch. */
  readonly at: number;
}

/**
 * The backups among the names of a folder that were begun before a time and
 * never ended: of a process that was killed.
 */
export function unfinishedAmong(
  names: readonly string[],
  beforeMs: number,
): readonly string[] {
  const whole = names.filter((name) => name.endsWith(PARTIAL))
    .map((name) => name.slice(0, -PARTIAL.length));
  return backupsAmong(whole).filter(({ at }) => at < beforeMs)
    .map(({ name }) => name);
}

/** What follows the name of a backup that is not whole. */
const PARTIAL = ".partial";

const NAME = /^rampkit-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;

function readName(name: string): Backup | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : { name, at };
}

/** Where, when and of what backups are made. */
interface RegularBackupsOptions {
  /** File of the ledger. */
  readonly database: string;
  /** Opens the ledger once more, so that deliveries do not wait for a copy. */
  readonly open: () => Promise<Ledger>;
  /** Folder of the backups; it is made where it is missing. */
  readonly directory: string;
  /** Time from the beginning of one to that of the next, ms. */
  readonly everyMs: number;
  /** How many are left in the folder. */
  readonly keep: number;
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: Pick<ServiceMetrics, "backup">;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Longest wait for the next attempt after a failure, ms. */
const RETRY_MS = 300_000;
/** A clock that was set is noticed within this time, ms. */
const LONGEST_SLEEP_MS = 60_000;

/**
 * Makes backups of a ledger while it is in use: copies it, verifies the copy,
 * and only then removes the oldest ones.
 */
export class RegularBackups {
  readonly #options: RegularBackupsOptions;
  readonly #failing: Alarm;
  /** The file that is the ledger: another one in its place is not copied. */
  readonly #fileId: string;

  /** @param options The ledger has to be open. */
  constructor(options: RegularBackupsOptions) {
    this.#options = options;
    this.#failing = new Alarm(options.log, "backup_failing", options.now);
    this.#fileId = fileId(options.database);
  }

  /** Since when none can be made, UTC ISO 8601; null while they are. */
  get failingSince(): string | null {
    return this.#failing.since;
  }

  /**
   * Makes one whenever the newest in the folder is old enough, until it is
   * stopped: a restart makes one that is due, and none that is not. The first
   * waits for the first events.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { everyMs, now } = this.#options;
    let retryAt = 0;
    while (!signal.aborted) {
      try {
        const newest = await this.#newest();
        if (newest === null || now() - newest >= everyMs || now() < newest) {
          if (now() >= retryAt) await this.#onceUntil(signal);
        }
      } catch (error) {
        if (signal.aborted) return;
        retryAt = now() + Math.min(everyMs, RETRY_MS);
        this.#reportFailure(error);
      }
      await sleep(Math.min(everyMs, LONGEST_SLEEP_MS), signal).catch(() => {});
    }
  }

  /** Makes one, and does not wait for its copy when it is stopped. */
  async #onceUntil(signal: AbortSignal): Promise<void> {
    const made = this.once(signal);
    await Promise.race([made, aborted(signal)]);
    if (signal.aborted) made.catch(() => {});
  }

  /**
   * Makes one now, unless the ledger has no events: a restore refuses a copy
   * without any.
   *
   * @throws {Error} When it cannot be made, or the copy does not verify.
   */
  async once(signal: AbortSignal): Promise<void> {
    const { directory, database, open, log, metrics, now } = this.#options;
    if (fileId(database) !== this.#fileId) {
      throw new Error("The ledger's file was removed or replaced");
    }
    const begunAt = now();
    const file = `${directory}/${backupName(begunAt)}`;
    let head = "";
    {
      await using ledger = await open();
      if (await isEmpty(ledger)) return;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await copyWhole(ledger, file, {
        signal,
        check: async (copy) => {
          head = await verifyCopy(copy, signal);
        },
      });
    }
    const removed = await this.#tidy(begunAt);
    metrics.backup(begunAt);
    this.#failing.clear();
    log("info", "backup_made", {
      file,
      expect: head,
      bytes: (await stat(file)).size,
      seconds: Math.round((now() - begunAt) / 1000),
      removed,
    });
  }

  /** Removes the oldest, and what killed processes have left. */
  async #tidy(nowMs: number): Promise<readonly string[]> {
    const { directory, keep, everyMs } = this.#options;
    const names = await readdir(directory);
    const removed = backupsAmong(names).slice(keep).map(({ name }) => name);
    for (const name of removed) await unlink(`${directory}/${name}`);
    for (const name of unfinishedAmong(names, nowMs - everyMs)) {
      await discardPartial(`${directory}/${name}`);
    }
    return removed;
  }

  async #newest(): Promise<number | null> {
    const { directory, metrics } = this.#options;
    const names = await readdir(directory).catch((error) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    const madeAt = backupsAmong(names)[0]?.at ?? null;
    metrics.backup(madeAt);
    return madeAt;
  }

  #reportFailure(error: unknown): void {
    this.#failing.raise({
      message: messageOf(error),
      effect: "Older backups are kept; it is tried again",
    });
  }
}

async function isEmpty({ driver }: Ledger): Promise<boolean> {
  return await readLastPosition(driver) === 0;
}

/**
 * Looks at every page and every event of a copy.
 *
 * @throws {Error} When something is wrong with it.
 */
async function verifyCopy(file: string, signal: AbortSignal): Promise<string> {
  await using copy = await openLedger({
    url: `file:${encodeURI(file)}`,
    readOnly: true,
  });
  const damage = await findDamage(copy.driver);
  if (damage !== null) throw new Error(`The copy is damaged: ${damage}`);
  const { ok, reason, chained, hash } = await copy.verify({ signal });
  if (!ok) {
    throw new Error(
      "The copy does not verify" +
        (reason === null ? "" : `: ${describeDamage(reason)}`),
    );
  }
  return `${chained}:${hash}`;
}
