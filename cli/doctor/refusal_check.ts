import type { Ledger } from "../../ledger/mod.ts";
import { readRefusedRequests } from "../../ledger/internals.ts";
import { counted } from "../views/counted.ts";
import { span } from "../wording/span.ts";
import { type Check, check } from "./check.ts";

const NAME = "Refused";

/** Requests longer ago than this say nothing about today, ms. */
const RECENT_MS = 24 * 3_600_000;

/** What each reason may mean, those first that cost deliveries. */
const ADVICE: readonly (readonly [string, string])[] = [
  [
    "wrong_secret",
    "Compare the address in the service's dashboard with " +
    "RAMPKIT_WEBHOOK_SECRET; strangers who guess are refused likewise",
  ],
  [
    "wrong_path",
    "Compare the address in the service's dashboard: it ends in " +
    "/webhooks/SECRET",
  ],
  [
    "not_allowed",
    "Ask the service which addresses it delivers from, and compare `serve --allow`",
  ],
  ["too_large", "The body limit is 1 MiB; no documented webhook is near it"],
  ["overload", "More deliveries came at once than memory holds"],
];

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
  const advice = ADVICE.find(([wanted]) =>
    refused.some(([reason]) => reason === wanted)
  )?.[1];
  return advice === undefined
    ? check(NAME, "ok", detail)
    : check(NAME, "warn", detail, advice);
}
