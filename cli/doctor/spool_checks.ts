import { readdir } from "node:fs/promises";
import { errorCode, messageOf } from "../../core/guards.ts";
import type { Config } from "../program/config.ts";
import { counted } from "../views/counted.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";
import { type Check, check } from "./check.ts";

/** Looks for deliveries that wait in files, and for files that are damaged. */
export async function spoolChecks(config: Config): Promise<Check[]> {
  const name = "Spool";
  const directory = spoolDirectory(config);
  let waiting = 0;
  let damaged = 0;
  try {
    for (const name of await readdir(directory)) {
      if (name.endsWith(".spool")) waiting++;
      if (name.endsWith(".damaged")) damaged++;
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
    waiting === 0 ? check(name, "ok", "No delivery waits in a file") : check(
      name,
      "warn",
      `${counted(waiting, "file")} of deliveries in ${directory}`,
      "serve drains them when the ledger takes writes; is it running?",
    ),
  ];
}
