import type { Ledger } from "../../ledger/for_server.ts";
import type { PollerOptions } from "../../sync/polling/poller.ts";
import type { Config } from "../../core/settings/config.ts";
import type { Reception, ReceptionParts } from "./reception.ts";

/** What the service is made of, and where `serve` and Deploy differ. */
export interface ServiceParts extends ReceptionParts {
  /** Settings. */
  readonly config: Config;
  /** The open ledger; the caller closes it after the service. */
  readonly ledger: Ledger;
  /**
   * What has taken deliveries since before the ledger was open, with the same
   * spool.
   *
   * @default {made of the parts}
   */
  readonly reception?: Reception;
  /**
   * Whether the process runs until it is stopped. Then a worker folds at all
   * times, and timers watch the poller and refused requests. Otherwise nothing
   * runs between requests: an append is followed by a fold.
   */
  readonly longLived: boolean;
  /** Whether the service is asked at all. @default true */
  readonly poll?: boolean;
  /** Requests a second to the service. @default {those of client and poller} */
  readonly requestsPerSecond?: number;
  /** Pauses and shares of polling. @default {as the poller does} */
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
  /** Sends requests to the service. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
}
