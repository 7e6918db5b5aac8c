import { existsSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { errorCode, messageOf } from "../../core/guards.ts";
import type { Config } from "../program/config.ts";
import { counted } from "../views/counted.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import {
  lockOfSegment,
  lockSegment,
} from "../../webhooks/spool/segment_lock.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readWaiting } from "../../ledger/queries/waiting_deliveries.ts";
import { waitingText } from "../wording/waiting.ts";
import { type Check, check } from "./check.ts";

/** Looks for deliveries that wait in files, and for files that are damaged. */
export async function spoolChecks(config: Config): Promise<Check[]> {
  const name = "Spool";
  const directory = spoolDirectory(config);
  if (directory === null) {
    return [check(name, "ok", "None: the ledger has deliveries at once")];
  }
  let waiting = 0;
  let damaged = 0;
  try {
    for (const name of await readdir(directory)) {
      if (name.endsWith(".damaged")) damaged++;
      if (!name.endsWith(".spool")) continue;
      if (await isLeft(`${directory}/${name}`)) waiting++;
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") {
      return [check(name, "fail", `${directory}: ${messageOf(error)}`)];
    }
  }
  if (damaged > 0) {
    return [check(
      name,
      "fail",
      `${counted(damaged, "damaged file")} in ${directory}: deliveries that ` +
        "were answered may be lost",
      "Read the service again over that time with rampkit recover, then " +
        "move what ends in .damaged elsewhere",
    )];
  }
  return [
    waiting === 0
      ? check(name, "ok", "No process left deliveries in a file")
      : check(
        name,
        "warn",
        `${counted(waiting, "file")} of deliveries in ${directory}, left by ` +
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

/** Whether a file holds deliveries and no process. A new file is all zeros. */
async function isLeft(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const head = new Uint8Array(16);
    await file.read(head);
    if (head.every((byte) => byte === 0)) return false;
    // Looking leaves no lock's file where there is none.
    if (!existsSync(lockOfSegment(path))) return true;
    using lock = await lockSegment(path);
    return lock !== null;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
