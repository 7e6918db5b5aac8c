import type { Ledger } from "../../ledger/mod.ts";
import { readRefusedRequests } from "../../sync/for_resources.ts";
import { counted } from "../views/counted.ts";
import { REFUSALS } from "../wording/refusals.ts";
import { span } from "../wording/span.ts";
import { type Check, check } from "./check.ts";

const NAME = "Refused";

/** Requests longer ago than this say nothing about today, ms. */
const RECENT_MS = 24 * 3_600_000;

/** Looks at the requests that the endpoint refused in the last day. */
export async function refusalCheck(
  ledger: Ledger,
  now: () => number,
): Promise<Check> {
  const refused = Object.entries(await readRefusedRequests(ledger.driver))
    .filter(([, { lastAt }]) => now() - Date.parse(lastAt) < RECENT_MS);
  if (refused.length === 0) {
    return check(NAME, "ok", "The endpoint refused no request in the last day");
  }
  const detail = refused.map(([reason, { count, lastAt }]) =>
    `${counted(count, "request")} (${reason}, last ` +
    `${span(now() - Date.parse(lastAt))} ago)`
  ).join(", ");
  const advice = Object.entries(REFUSALS).find(([wanted]) =>
    refused.some(([reason]) => reason === wanted)
  )?.[1];
  return advice === undefined
    ? check(NAME, "ok", detail)
    : check(NAME, "warn", detail, advice);
}
