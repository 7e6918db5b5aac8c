import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";
import type { ConditionCode } from "../../resources/health/conditions.ts";

/** What a target was told of an alarm last. */
export interface NotifiedAlarm {
  /** Whether it was raised or cleared. */
  readonly state: "raised" | "cleared";
  /** What was wrong. */
  readonly code: ConditionCode;
  /** Which of several it was about; else null. */
  readonly about: string | null;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** When the target took it, UTC ISO 8601. */
  readonly at: string;
}

/** Names an alarm of a target, under which it is stored with the ledger. */
export interface NotifiedAlarmName {
  /** Name of the target. */
  readonly target: string;
  /** Name of the alarm. */
  readonly alarm: string;
}

/** Reads what a target was told last; null when nothing was. */
export function readNotified(
  driver: Driver,
  name: NotifiedAlarmName,
): Promise<NotifiedAlarm | null> {
  return readSweep<NotifiedAlarm>(driver, rowOf(name));
}

/** Stores what a target was told. */
export async function writeNotified(
  driver: Driver,
  name: NotifiedAlarmName,
  alarm: NotifiedAlarm,
): Promise<void> {
  const row = writeSweep(rowOf(name), alarm, Date.parse(alarm.at));
  await driver.batch([row], "write");
}

function rowOf({ target, alarm }: NotifiedAlarmName): string {
  return `alarm:${alarm}:${target}`;
}
