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
export const PARTIAL = ".partial";

const NAME = /^rampkit-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;

function readName(name: string): Backup | null {
  const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : { name, at };
}
