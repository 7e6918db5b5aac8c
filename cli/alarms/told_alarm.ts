import type { Driver } from "../../ledger/store/driver/driver.ts";
import {
  readSweep,
  writeSweep,
} from "../../ledger/store/tables/polling/sweeps.ts";
import type { AlarmCode } from "./standing_alarm.ts";

/** What a target was told of an alarm last. */
export interface ToldAlarm {
  /** Whether it was raised or cleared. */
  readonly state: "raised" | "cleared";
  /** What was wrong. */
  readonly code: AlarmCode;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** When the target took it, UTC ISO 8601. */
  readonly at: string;
}

/** An alarm of a target: it is kept with the ledger. */
export interface ToldName {
  /** Name of the target. */
  readonly target: string;
  /** Name of the alarm. */
  readonly alarm: string;
}

/** Reads what a target was told last; null when nothing was. */
export function readTold(
  driver: Driver,
  name: ToldName,
): Promise<ToldAlarm | null> {
  return readSweep<ToldAlarm>(driver, rowOf(name));
}

/** Keeps what a target was told. */
export async function writeTold(
  driver: Driver,
  name: ToldName,
  told: ToldAlarm,
): Promise<void> {
  const row = writeSweep(rowOf(name), told, Date.parse(told.at));
  await driver.batch([row], "write");
}

function rowOf({ target, alarm }: ToldName): string {
  return `alarm:${alarm}:${target}`;
}
