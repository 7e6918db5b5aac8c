import type { Driver } from "../../ledger/for_sync.ts";
import { readPollBacklog } from "../../sync/for_resources.ts";
import { counted } from "../views/counted.ts";
import { printable } from "../views/printable.ts";
import { span } from "../wording/span.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/** Refused ids that are named. */
const NAMED = 3;

/** What waits for a confirming read, and which ids the service refuses. */
export async function lookAtBacklog(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const { backlog: { known, unknown }, isolatedIds } = await readPollBacklog(
    driver,
  );
  const ageMs = (at: string | null) =>
    at === null ? 0 : Math.max(0, nowMs - Date.parse(at));
  const waits = (at: string | null) =>
    at === null ? "" : `, the oldest for ${span(ageMs(at))}`;
  const facts = { waiting: known.waiting, unknown: unknown.waiting };
  const more = `${known.waiting} orders and users wait to be confirmed${
    waits(known.oldestAt)
  }; ${unknown.waiting} more that the service never showed${
    waits(unknown.oldestAt)
  }`;
  return [
    ageMs(known.oldestAt) > LIMITS.confirmationWaitsMs
      ? found("confirmations_waiting", { since: known.oldestAt, more, facts })
      : found("nothing_to_confirm", { more, facts }),
    isolatedIds.count === 0 ? found("ids_taken") : found("ids_refused", {
      more: `${counted(isolatedIds.count, "id")}, ` +
        isolatedIds.ids.slice(0, NAMED).map(({ entity, entityId, why }) =>
          `${entity} ${printable(entityId)} (${printable(why)})`
        ).join("; "),
      facts: { ids: isolatedIds.count },
    }),
  ];
}
