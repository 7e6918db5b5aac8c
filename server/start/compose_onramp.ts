import type { SessionsApi } from "../../client/mod.ts";
import { defined, errorCode, messageOf } from "../../core/guards.ts";
import type { SubscribeOptions } from "../../ledger/mod.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import { type Config, requireApiKey } from "../../core/settings/config.ts";
import { SHORT_SECRET_LENGTH } from "../../core/settings/settings.ts";
import { serviceClient } from "../compose/service_client.ts";
import { sessionEndpoint } from "../../widget/mod.ts";
import { readNotify } from "../alarms/notify_targets.ts";
import { type WatchedHealth, watchHealth } from "../alarms/alarm_sender.ts";
import {
  composeService,
  type Service,
  type ServiceParts,
} from "../compose/compose_service.ts";
import { WaitingOrders } from "../monitoring/waiting_orders.ts";
import type { WitnessService } from "../compose/compose_witness.ts";
import { HandlerList } from "./handlers.ts";
import type { Onramp, PageSessions, StartOptions } from "./onramp.ts";
import { type OnProblem, problemOf } from "../alarms/alarm_message.ts";
import {
  createSession,
  expectSale,
  salePlan,
  sell,
  type SellParts,
} from "./sale.ts";

/** What a program is made of. */
export interface OnrampParts<User> extends Omit<ServiceParts, "path"> {
  /** Options of the program. */
  readonly options: Pick<
    StartOptions<User>,
    "sessions" | "poll" | "requestsPerSecond"
  >;
  /** Called with what looks find. */
  readonly onProblem: OnProblem;
  /** What was found before it was wired. @default {nothing} */
  readonly ownFindings?: readonly Finding[];
  /** Asks the partner's chain nodes; null without any. @default {null} */
  readonly witness?: WitnessService | null;
  /** Whether the ledger had no transition before. */
  readonly isNew: boolean;
  /** Replaced where time is virtual. */
  readonly timing?: Pick<SubscribeOptions, "start" | "steadyNow" | "sleep">;
  /** Makes a click id. @default {a UUID} */
  readonly newClickId?: () => string;
}

/** A program that has not begun to work in the background. */
export interface ComposedOnramp {
  /** The program, except how it ends. */
  readonly onramp: Omit<
    Onramp,
    "listen" | "close" | typeof Symbol.asyncDispose
  >;
  /** Endpoint, projection and poller. */
  readonly service: Service;
  /** Its handlers. */
  readonly handlers: HandlerList;
  /** Health of everything. */
  readonly health: WatchedHealth;
  /** Tells of orders that wait for a person. */
  readonly waiting: WaitingOrders;
}

/** Wires a program. Nothing is asked, folded or dispatched by it alone. */
export function composeOnramp<User>(
  parts: OnrampParts<User>,
): ComposedOnramp {
  const { config, ledger, log, metrics, now, options } = parts;
  const { newClickId, timing, isNew } = parts;
  const service = composeService({ ...parts, path: null });
  const handlers = new HandlerList(defined({
    ledger,
    log,
    now,
    timing,
    from: isNew ? "start" as const : "now" as const,
  }));
  const client = config.apiKey === null ? null : serviceClient(
    config,
    ledger.environment,
    defined({
      requestsPerSecond: options.requestsPerSecond,
      fetch: parts.fetch,
    }),
  );
  const sessions: Pick<SessionsApi, "create"> = client?.sessions ?? {
    // Rejects: it says which setting is missing.
    create: async () => await Promise.reject(requireApiKey(config)),
  };
  const selling = defined({ sessions, ledger, newClickId });
  const health = watchHealth({
    ledger,
    config,
    log,
    metrics,
    now,
    onProblem: parts.onProblem,
    own: async () => [
      ...await service.health(),
      ...parts.witness?.health() ?? [],
      ...settingFindings(config, options.poll !== false),
      ...parts.ownFindings ?? [],
    ],
    alarms: { targets: readNotify(config)(ledger.id) },
  });
  return {
    service,
    handlers,
    health,
    waiting: new WaitingOrders({ ledger, log, now }),
    onramp: {
      webhooks: (request, info) => service.endpoint(request, info),
      sessions: pageEndpoint(
        options.sessions,
        selling,
        config.publicUrl,
        (error) =>
          log(
            errorCode(error) === "wrong_origin" ? "warn" : "error",
            "session_failed",
            { message: messageOf(error) },
          ),
      ),
      sell: (sale) => sell(selling, sale),
      expect: (expected) =>
        expectSale(defined({ ledger, newClickId }), expected),
      on: (pattern, handler, how) => handlers.add(pattern, handler, how),
      orders: ledger.orders,
      users: ledger.users,
      find: (text) => ledger.find(text),
      status: async () => {
        const found = await health.monitor.look();
        return {
          ok: found.every(({ level }) => level !== "problem"),
          environment: ledger.environment,
          conditions: found.filter(({ level }) => level !== "skipped")
            .map(problemOf),
        };
      },
      ledger,
      client,
    },
  };
}

/** The endpoint of a page; it sells as `sell` does. */
function pageEndpoint<User>(
  asked: PageSessions<User> | undefined,
  parts: SellParts,
  publicUrl: string | null,
  report: (error: unknown) => void,
): Onramp["sessions"] {
  if (asked === undefined) {
    return () =>
      Promise.reject(
        new TypeError(
          "Cannot answer with a session: pass `sessions` with `authorise` " +
            "and `plan` to startOnramp()",
        ),
      );
  }
  const { authorise, plan, allowedOrigins } = asked;
  return sessionEndpoint({
    authorise,
    plan: async ({ user, input }) => {
      const sale = await plan({ user, input });
      return sale === null ? null : salePlan(sale);
    },
    createSession: (session) => createSession(parts, session),
    recordSession: parts.ledger.recordSession,
    report,
    ...defined({ allowedOrigins, publicUrl: publicUrl ?? undefined }),
  });
}

/** Required settings that are missing. */
export function settingFindings(
  { apiKey, webhookSecrets }: Pick<Config, "apiKey" | "webhookSecrets">,
  polls: boolean,
): readonly Finding[] {
  const isShort = webhookSecrets.some((secret) =>
    secret.length < SHORT_SECRET_LENGTH
  );
  return [
    ...apiKey !== null
      ? [found("api_key_set")]
      : polls
      ? [found("api_key_missing")]
      : [],
    webhookSecrets.length === 0
      ? found("webhook_secret_missing")
      : found(isShort ? "webhook_secret_short" : "webhook_secret_set"),
  ];
}
