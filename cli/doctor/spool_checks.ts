import { messageOf } from "../../core/guards.ts";
import type { Config } from "../../settings/config.ts";
import { counted } from "../../resources/views/counted.ts";
import {
  type LeftSegments,
  leftSegments,
} from "../../server/ledger_file/left_segments.ts";
import { spoolDirectory } from "../../server/ledger_file/spool_directory.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readWaiting } from "../../ledger/for_resources.ts";
import { waitingText } from "../../resources/wording/waiting.ts";
import { type Check, check } from "../../resources/health/check.ts";

/** Looks for deliveries that wait in files, and for files that are damaged. */
export async function spoolChecks(config: Config): Promise<Check[]> {
  const name = "Spool";
  const directory = spoolDirectory(config);
  if (directory === null) {
    return [check(name, "ok", "None: the ledger has deliveries at once")];
  }
  let left: LeftSegments;
  try {
    left = await leftSegments(directory);
  } catch (error) {
    return [check(name, "fail", `${directory}: ${messageOf(error)}`)];
  }
  const { waiting, damaged } = left;
  if (damaged.length > 0) {
    return [check(
      name,
      "fail",
      `${
        counted(damaged.length, "damaged file")
      } in ${directory}: deliveries that ` +
        "were answered may be lost",
      "Read the service again over that time with rampkit recover, then " +
        "move what ends in .damaged elsewhere",
    )];
  }
  return [
    waiting.length === 0
      ? check(name, "ok", "No process left deliveries in a file")
      : check(
        name,
        "warn",
        `${
          counted(waiting.length, "file")
        } of deliveries in ${directory}, left by ` +
          "a process that ended",
        "serve takes them into the ledger; start it",
      ),
  ];
}

/** What movers wrote down as waiting; no check where nothing waits. */
export async function waitingChecks(
  { driver }: Ledger,
  nowMs: number,
): Promise<Check[]> {
  const waiting = await readWaiting(driver, nowMs);
  if (waiting === null) return [];
  const text = waitingText(waiting, nowMs);
  return [
    waiting.ended === 0
      ? check("Waiting", "ok", text)
      : check("Waiting", "warn", text, "Is `serve` running?"),
  ];
}
