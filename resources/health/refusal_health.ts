import type { Driver } from "../../ledger/for_sync.ts";
import { readRefusedRequests } from "../../sync/for_resources.ts";
import { counted } from "../views/counted.ts";
import { REFUSALS } from "../wording/refusals.ts";
import { span } from "../wording/span.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/** The requests that the endpoint refused in the last day. */
export async function lookAtRefusals(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const refused = Object.entries(await readRefusedRequests(driver))
    .filter(([, { lastAt }]) =>
      nowMs - Date.parse(lastAt) < LIMITS.refusedAgoMs
    );
  if (refused.length === 0) return [found("requests_taken")];
  const next = Object.entries(REFUSALS).find(([wanted]) =>
    refused.some(([reason]) => reason === wanted)
  )?.[1];
  const told = {
    more: refused.map(([reason, { count, lastAt }]) =>
      `${counted(count, "request")} (${reason}, last ` +
      `${span(Math.max(0, nowMs - Date.parse(lastAt)))} ago)`
    ).join(", "),
    facts: Object.fromEntries(
      refused.map(([reason, { count }]) => [reason, count]),
    ),
  };
  return [
    next === undefined
      ? found("strangers_refused", told)
      : found("requests_refused", { ...told, next }),
  ];
}
