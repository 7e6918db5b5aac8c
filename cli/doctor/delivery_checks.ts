import { type Ledger, watchdog } from "../../ledger/mod.ts";
import type { Config } from "../config.ts";
import type { Io } from "../io.ts";
import { type Check, check, span } from "./check.ts";

/** The service gives up after this long, ms. */
const ANSWER_LIMIT_MS = 5000;

/** Looks at webhook delivery, from the ledger and from outside. */
export async function deliveryChecks(
  ledger: Ledger,
  config: Config,
  { now, signal }: Pick<Io, "now" | "signal">,
): Promise<Check[]> {
  return [
    await delivery(ledger, now),
    await freshness(ledger, now),
    await reachable(config, now, signal),
  ];
}

async function delivery(ledger: Ledger, now: () => number): Promise<Check> {
  const { health } = await watchdog(ledger.driver, { nowMs: now() });
  if (health.state === "never_received" && health.silentOrders > 0) {
    return check(
      "Delivery",
      "warn",
      health.detail,
      "Where webhooks are meant to come, set the endpoint's address in the " +
        "service's dashboard and press Test there",
    );
  }
  return health.deliverySuspected || health.failingSince !== null
    ? check(
      "Delivery",
      "fail",
      health.detail,
      "Look at the webhook page of the service's dashboard, enable delivery " +
        "there, then: rampkit recover --from WHEN-IT-BEGAN",
    )
    : check("Delivery", "ok", health.detail);
}

async function freshness(ledger: Ledger, now: () => number): Promise<Check> {
  const [result] = await ledger.driver.batch([{
    sql: `SELECT
      (SELECT max(recorded_at) FROM (SELECT recorded_at FROM events
        WHERE kind = 'webhook' ORDER BY position DESC LIMIT 1)),
      (SELECT max(asked_at) FROM observations)`,
    args: [],
  }], "read");
  const [webhook, poll] = result?.rows[0] ?? [];
  const ago = (time: unknown) =>
    typeof time === "string"
      ? `${span(now() - Date.parse(time))} ago`
      : "never";
  return check(
    "Freshness",
    poll === null ? "warn" : "ok",
    `Last webhook: ${ago(webhook)}; last answer of the service: ${ago(poll)}`,
    ...(poll === null ? ["Nothing is confirmed yet: rampkit poll --once"] : []),
  );
}

async function reachable(
  config: Config,
  now: () => number,
  signal: AbortSignal,
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
  const asked = now();
  try {
    const answer = await fetch(`${publicUrl}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]),
      redirect: "manual",
    });
    await answer.body?.cancel();
    const took = now() - asked;
    return answer.ok
      ? check(name, "ok", `${publicUrl} answers in ${took} ms`)
      : check(
        name,
        "fail",
        `${publicUrl}/healthz answers ${answer.status}`,
        "Is it this endpoint that answers there?",
      );
  } catch {
    signal.throwIfAborted();
    return check(
      name,
      "fail",
      `${publicUrl} does not answer within ${span(ANSWER_LIMIT_MS)}`,
      "The service cannot reach it either: check address, proxy and firewall",
    );
  }
}
