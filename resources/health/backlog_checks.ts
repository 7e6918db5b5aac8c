import type { Ledger } from "../../ledger/mod.ts";
import { readPollStatus } from "../../sync/for_resources.ts";
import { printable } from "../views/printable.ts";
import { span } from "../wording/span.ts";
import { type Check, check } from "./check.ts";

/** Older than this, orders that the service has shown wait too long, in ms. */
const OLD_MS = 15 * 60_000;

/** Refused ids that are named. */
const NAMED = 3;

/** Looks at what waits for a confirming read, and at ids that are refused. */
export async function backlogChecks(
  ledger: Ledger,
  now: () => number,
): Promise<Check[]> {
  const { backlog, isolatedIds } = await readPollStatus(ledger.driver);
  const { known, unknown } = backlog;
  const age = (oldestAt: string | null) =>
    oldestAt === null
      ? ""
      : ` since ${span(Math.max(0, now() - Date.parse(oldestAt)))}`;
  const late = known.oldestAt !== null &&
    now() - Date.parse(known.oldestAt) > OLD_MS;
  return [
    check(
      "Backlog",
      late ? "warn" : "ok",
      `${known.waiting} orders and users wait to be confirmed${
        age(known.oldestAt)
      }; ${unknown.waiting} more that the service never showed${
        age(unknown.oldestAt)
      }`,
      ...(late
        ? ["Does `serve` or `poll` run, and is its --rate enough?"]
        : []),
    ),
    isolatedIds.count === 0
      ? check("Refused ids", "ok", "The service refuses no id")
      : check(
        "Refused ids",
        "warn",
        `${isolatedIds.count} set aside: ${
          isolatedIds.ids.slice(0, NAMED).map(({ entity, entityId, why }) =>
            `${entity} ${printable(entityId)} (${printable(why)})`
          ).join("; ")
        }`,
        "They are asked for again, less and less often; tell the service's " +
          "support when they are orders of yours",
      ),
  ];
}
