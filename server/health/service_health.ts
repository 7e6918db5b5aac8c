import { messageOf } from "../../core/guards.ts";
import type { OnrampClient } from "../../client/mod.ts";
import { LIMITS } from "../../resources/health/conditions.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { pollFailureAdvice } from "../../resources/wording/poll_failure.ts";
import { span } from "../../resources/wording/phrases.ts";
import type { Config } from "../../core/settings/config.ts";
import { proxyOf } from "../forwarding/post_webhook.ts";
import { isLoopback } from "../http/listening.ts";
import { pollFailureCause } from "../../sync/polling/poll_health.ts";

/** How the service and the endpoint are asked. */
export interface AskOptions {
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Warns of production whose service is this machine: a sandbox left over. */
export function lookAtBaseUrl(
  { baseUrl }: Pick<Config, "baseUrl">,
  environment: string,
): readonly Finding[] {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  return environment === "production" && url !== null &&
      isLoopback(url.hostname)
    ? [found("base_url_loopback", { more: url.origin })]
    : [];
}

/** Asks the service whether the key is valid and the clocks agree. */
export async function lookAtService(
  client: OnrampClient,
  { now, signal }: AskOptions,
): Promise<readonly Finding[]> {
  const { name, baseUrl } = client.environment;
  const proxy = proxyOf(new URL(baseUrl));
  const startedAt = now();
  try {
    const page = await client.orders.page({ limit: 0 }, { signal });
    const answeredAt = now();
    return [
      found("service_answers", {
        more: `${baseUrl}, for ${name}, in ${span(answeredAt - startedAt)}${
          proxy === null ? "" : `, through the proxy of ${proxy}`
        }`,
      }),
      clock(Date.parse(page.readAt), (startedAt + answeredAt) / 2),
    ];
  } catch (error) {
    signal.throwIfAborted();
    return [
      found("service_failing", {
        more: messageOf(error),
        next: pollFailureAdvice(pollFailureCause(error)),
      }),
    ];
  }
}

function clock(theirs: number, ours: number): Finding {
  // The service states whole seconds.
  const off = theirs + 500 - ours;
  if (Math.abs(off) <= LIMITS.clockOffMs) return found("clock_right");
  return found(
    Math.abs(off) > LIMITS.clockWrongMs ? "clock_wrong" : "clock_off",
    {
      more: `it is ${span(off)} ${off > 0 ? "behind" : "ahead"}`,
      facts: { offMs: Math.round(off) },
    },
  );
}

/** An address without its path, which may hold the webhook secret. */
function shownAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return pathname === "/" ? origin : `${origin}/...`;
}

/** Asks whether the endpoint answers at its public address. */
export async function lookAtEndpoint(
  { publicUrl }: Pick<Config, "publicUrl">,
  { now, signal }: AskOptions,
): Promise<readonly Finding[]> {
  if (publicUrl === null) return [found("endpoint_unknown")];
  const shown = shownAddress(publicUrl);
  if (/\/webhooks(\/|$)/i.test(publicUrl)) {
    return [found("endpoint_secret_named", { more: shown })];
  }
  const startedAt = now();
  try {
    const answer = await fetch(`${publicUrl}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMITS.answerMs)]),
      redirect: "manual",
    });
    await answer.body?.cancel();
    return [
      answer.ok
        ? found("endpoint_answers", {
          more: `${shown}, in ${span(now() - startedAt)}`,
        })
        : found("endpoint_wrong", {
          more: `${shown}/healthz answers ${answer.status}`,
        }),
    ];
  } catch {
    signal.throwIfAborted();
    return [
      found("endpoint_unreachable", {
        more: `${shown}, within ${span(LIMITS.answerMs)}`,
      }),
    ];
  }
}
