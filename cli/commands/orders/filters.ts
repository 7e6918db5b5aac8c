import type { Command } from "commander";
import { moment, TIME_FORMAT, windowEnd } from "../../../settings/values.ts";
import { orderedWindow } from "../../program/options.ts";
import {
  anomalyKind,
  attentionKind,
  releaseReason,
  RELEASES,
  releaseWord,
  STATUSES,
} from "../../../resources/queries/order_filters.ts";

/** Adds the flags that choose orders. */
export function filterOptions(command: Command): Command {
  return orderedWindow(command)
    .option(
      "--status <status>",
      `only orders in this status: ${STATUSES.join(", ")}`,
    )
    .option("--user <id>", "only orders of this user")
    .option("--click <id>", "only orders of this click id")
    .option("--asset <code>", "only orders of this asset, for example USDC")
    .option(
      "--from <time>",
      `created at or after this time: ${TIME_FORMAT}`,
      moment("--from"),
    )
    .option(
      "--to <time>",
      "created before this time; a date includes its whole day",
      windowEnd("--to"),
    )
    .option(
      "--anomaly [kind]",
      "only orders with an anomaly, or with one of this kind",
      (kind: string) => anomalyKind("--anomaly", kind),
    )
    .option(
      "--attention <kind>",
      "only orders that wait for a person for this reason: see rampkit attention",
      (kind: string) => attentionKind("--attention", kind),
    )
    .option(
      "--release <release>",
      `only orders of this release: ${RELEASES.join(", ")}`,
      (word: string) => releaseWord("--release", word),
    )
    .option(
      "--reason <reason>",
      "only orders whose release has this reason, for example several_match",
      (word: string) => releaseReason("--reason", word),
    );
}
