import { isRecord } from "../../core/guards.ts";
import { pinnedFetch } from "../../server/forwarding/pinned_fetch.ts";
import type { PostOptions } from "../../server/forwarding/post_webhook.ts";
import { targetName } from "../../server/forwarding/target_address.ts";
import { type Activity, forwardedActivity } from "./activity.ts";

type Fetch = NonNullable<PostOptions["fetch"]>;

/** What sent webhooks are observed with. */
export interface ObservedOptions {
  /** Called with each attempt. */
  readonly onActivity: (activity: Activity) => void;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Sends a request. @default pinnedFetch */
  readonly fetch?: Fetch;
}

/** Sends requests with webhooks, and tells of each what became of it. */
export function observedFetch(options: ObservedOptions): Fetch {
  const { onActivity, now, fetch: send = pinnedFetch } = options;
  return async (url, init, route) => {
    const begunMs = now();
    const tell = (answer: number | null, detail: string | null) =>
      onActivity(forwardedActivity({
        ...contentOf(init.body),
        answer,
        tookMs: Math.max(0, Math.round(now() - begunMs)),
        target: targetName(new URL(url)),
        detail,
      }, now()));
    try {
      const response = await send(url, init, route);
      tell(response.status, null);
      return response;
    } catch (error) {
      tell(null, "no answer");
      throw error;
    }
  };
}

/** What a webhook is about: the body is one of ours. */
function contentOf(body: string): Partial<Activity> {
  const message: unknown = JSON.parse(body);
  const { type, data } = isRecord(message) ? message : {};
  const { entity, id, state } = isRecord(data) ? data : {};
  const facts = isRecord(state) ? state : {};
  const text = (value: unknown) => typeof value === "string" ? value : null;
  return {
    type: String(type),
    entity: entity === "order" || entity === "user" ? entity : null,
    id: text(id),
    currencyAmount: text(facts.currencyAmount),
    currency: text(facts.currency),
    cryptoAmount: text(facts.cryptoAmount),
    commodity: text(facts.commodity),
  };
}
