import type { Ledger } from "../../../ledger/mod.ts";
import { readPollBacklog } from "../../../sync/for_server.ts";
import { counted } from "../../../resources/views/counted.ts";
import { span } from "../../../resources/wording/span.ts";
import type { HealthPart } from "./health_part.ts";

/** Older than this, orders that the service has shown wait too long, ms. */
const OLD_MS = 15 * 60_000;

/** What webhooks named and nobody has asked the service about yet. */
export async function backlogHealth(
  { driver }: Ledger,
  nowMs: number,
): Promise<HealthPart> {
  const { backlog, isolatedIds } = await readPollBacklog(driver);
  const { known, unknown } = backlog;
  const name = "Backlog";
  const age = (at: string | null) =>
    at === null ? "" : ` for ${span(Math.max(0, nowMs - Date.parse(at)))}`;
  const detail = known.waiting + unknown.waiting === 0
    ? "Nothing waits to be confirmed"
    : `${known.waiting} orders and users wait to be ` +
      `confirmed${age(known.oldestAt)}; ${unknown.waiting} more that the ` +
      `service never showed${age(unknown.oldestAt)}`;
  if (known.oldestAt !== null && nowMs - Date.parse(known.oldestAt) > OLD_MS) {
    return {
      name,
      level: "warn",
      since: known.oldestAt,
      detail,
      advice: "Does `serve` or `poll` run, and is its --rate enough?",
    };
  }
  if (isolatedIds.count > 0) {
    return {
      name,
      level: "warn",
      since: null,
      detail: `${detail}; the service refuses ${
        counted(isolatedIds.count, "id")
      }`,
      advice: "Tell the service's support when they are orders of yours; " +
        "`rampkit doctor` names them",
    };
  }
  return { name, level: "good", since: null, detail, advice: null };
}
