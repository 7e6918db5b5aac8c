import type { Ledger } from "../../ledger/for_server.ts";
import type { PollerOptions } from "../../sync/for_server.ts";
import type {
  Spool,
  WebhookEndpointOptions,
} from "../../webhooks/for_server.ts";
import type { Log } from "../monitoring/logger.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";
import type { Config } from "../../settings/config.ts";

/** What the service is made of, and in what `serve` and Deploy differ. */
export interface ServiceParts {
  /** Settings. */
  readonly config: Config;
  /** Secrets that the webhook address may end in. */
  readonly secrets: readonly string[];
  /** The open ledger; the caller closes it after the service. */
  readonly ledger: Ledger;
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: ServiceMetrics;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /**
   * Whether the process runs until it is told to stop. Then a worker folds at
   * all times, and timers watch the poller and refused requests. Otherwise
   * nothing runs between requests: an append is followed by a fold.
   */
  readonly longLived: boolean;
  /** Whether the service is asked at all. @default true */
  readonly poll?: boolean;
  /** Requests a second to the service. @default {those of client and poller} */
  readonly requestsPerSecond?: number;
  /** How eagerly it is asked. @default {as the poller does} */
  readonly polling?: Pick<
    PollerOptions,
    "confirmAtLeastMs" | "followEveryMs" | "sleep"
  >;
  /**
   * How long the service may disagree with a claim, in ms.
   *
   * @default {that of the poller}
   */
  readonly contradictedAfterMs?: number;
  /**
   * What the path of a delivery begins with; null where any will do.
   *
   * @default {WEBHOOK_PATH}
   */
  readonly path?: string | null;
  /** Sends requests to the service. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** From where webhooks are taken. @default {anywhere} */
  readonly admission?: Pick<
    WebhookEndpointOptions,
    "allowlist" | "clientAddress"
  >;
  /**
   * Where deliveries are kept from their answer until the ledger has them.
   *
   * @default {the ledger has them before the answer}
   */
  readonly spool?: Spool;
  /** Called with each request that the endpoint answers. @default {none} */
  readonly onAnswer?: WebhookEndpointOptions["onAnswer"];
}
