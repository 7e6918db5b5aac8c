import { type Ledger, listDeliveries } from "../../ledger/mod.ts";
import { watchdog } from "../../sync/mod.ts";
import type { Config } from "../../settings/config.ts";
import { describeCountdown, describeDelivery } from "../wording/delivery.ts";
import { span } from "../wording/span.ts";
import { type Check, check } from "./check.ts";
import { backlogChecks } from "./backlog_checks.ts";
import { comparisonCheck } from "./comparison_check.ts";
import { forwardChecks } from "./forward_checks.ts";
import { pollingCheck } from "./polling_check.ts";
import { refusalCheck } from "./refusal_check.ts";

/** The service gives up after this long, ms. */
const ANSWER_LIMIT_MS = 5000;

/** Looks at webhook delivery, from the ledger and from outside. */
export async function deliveryChecks(
  ledger: Ledger,
  config: Config,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<Check[]> {
  return [
    ...await storedChecks(ledger, now),
    await endpointCheck(config, { now, signal }),
  ];
}

/** Looks at delivery and polling by what the ledger has. */
export async function storedChecks(
  ledger: Ledger,
  now: () => number,
): Promise<Check[]> {
  return [
    await delivery(ledger, now),
    await freshness(ledger, now),
    await pollingCheck(ledger, now),
    ...await backlogChecks(ledger, now),
    await refusalCheck(ledger, now),
    await comparisonCheck(ledger),
    ...await forwardChecks(ledger),
  ];
}

async function delivery(ledger: Ledger, now: () => number): Promise<Check> {
  const { health } = await watchdog(ledger.driver, { nowMs: now() });
  const detail = describeDelivery(health);
  if (health.state === "never_received" && health.silentOrders > 0) {
    return check(
      "Delivery",
      "warn",
      detail,
      "Where webhooks are meant to come, set the endpoint's address in the " +
        "service's dashboard and press Test there",
    );
  }
  return health.deliverySuspected || health.failingSince !== null
    ? check(
      "Delivery",
      "fail",
      health.countdown === null
        ? detail
        : `${detail}. ${describeCountdown(health.countdown)}`,
      "Press Test on the webhook page of the service's dashboard first: when " +
        "nothing comes, delivery is off. Enable it there, then: " +
        `rampkit recover --from ${
          health.countdown?.firstFailureAt ?? "WHEN-IT-BEGAN"
        }`,
    )
    : check("Delivery", "ok", detail);
}

async function freshness(ledger: Ledger, now: () => number): Promise<Check> {
  let ago = "never";
  for await (const { receivedAt } of listDeliveries(ledger.driver)) {
    ago = `${span(now() - Date.parse(receivedAt))} ago`;
    break;
  }
  return check("Freshness", "ok", `Last webhook: ${ago}`);
}

/** An address without its path, which may hold the webhook secret. */
function shownAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return pathname === "/" ? origin : `${origin}/...`;
}

/** Looks at whether the endpoint answers at its public address. */
export async function endpointCheck(
  config: Config,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<Check> {
  const name = "Endpoint";
  const { publicUrl } = config;
  if (publicUrl === null) {
    return check(
      name,
      "skip",
      "Its public address is not known",
      "Set RAMPKIT_PUBLIC_URL, for example https://YOUR-HOST",
    );
  }
  const shown = shownAddress(publicUrl);
  if (/\/webhooks(\/|$)/i.test(publicUrl)) {
    return check(
      name,
      "fail",
      `RAMPKIT_PUBLIC_URL, ${shown}, holds the path of the webhooks`,
      "Name what comes before /webhooks/ only: the rest is a secret",
    );
  }
  const startedAt = now();
  try {
    const answer = await fetch(`${publicUrl}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]),
      redirect: "manual",
    });
    await answer.body?.cancel();
    const took = now() - startedAt;
    return answer.ok
      ? check(name, "ok", `${shown} answers in ${took} ms`)
      : check(
        name,
        "fail",
        `${shown}/healthz answers ${answer.status}`,
        "Is it this endpoint that answers there?",
      );
  } catch {
    signal.throwIfAborted();
    return check(
      name,
      "fail",
      `${shown} does not answer within ${span(ANSWER_LIMIT_MS)}`,
      "The service cannot reach it either: check address, proxy and firewall",
    );
  }
}
