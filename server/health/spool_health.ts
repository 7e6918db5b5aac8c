import { messageOf } from "../../core/guards.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { counted } from "../../resources/views/counted.ts";
import type { Config } from "../../settings/config.ts";
import {
  damagedSegments,
  type LeftSegments,
  leftSegments,
} from "../ledger_file/left_segments.ts";
import { spoolDirectory } from "../ledger_file/spool_directory.ts";

/**
 * Deliveries that wait in files of nobody, and files that are damaged.
 *
 * @param isOwn Whether this process works on the spool: it takes what is left
 * by itself, and nobody has to try the locks.
 */
export async function lookAtSpool(
  config: Pick<Config, "spoolDir" | "databaseUrl">,
  isOwn = false,
): Promise<readonly Finding[]> {
  const directory = spoolDirectory(config);
  if (directory === null) return [found("spool_unused")];
  let left: LeftSegments;
  try {
    left = isOwn
      ? { waiting: [], damaged: await damagedSegments(directory) }
      : await leftSegments(directory);
  } catch (error) {
    const more = `${directory}: ${messageOf(error)}`;
    return [found("spool_unreadable", { more })];
  }
  const { waiting, damaged } = left;
  const told = (files: readonly string[]) => ({
    more: `${counted(files.length, "file")} in ${directory}`,
    facts: { files: files.length },
  });
  if (damaged.length > 0) return [found("spool_damaged", told(damaged))];
  return [
    waiting.length > 0
      ? found("spool_left", told(waiting))
      : found("spool_empty"),
  ];
}
