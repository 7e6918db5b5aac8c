import { messageOf } from "../../core/guards.ts";
import type { RefusalReason } from "../../webhooks/endpoint_options.ts";
import type { Log } from "./logger.ts";

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 5_000;

/** Pause between two lines of the log, ms. */
const LOG_EVERY_MS = 60_000;

/** A reason of the endpoint, or a POST to a path that is not the endpoint's. */
type Reason = RefusalReason | "wrong_path";

type Counts = Readonly<Partial<Record<Reason, number>>>;

/** What the log of refusals works with. */
export interface RefusalLogOptions {
  /** What the endpoint has refused so far. */
  readonly refused: () => Counts;
  /** Latest address that the allowlist refused. */
  readonly lastNotAllowed?: () => string | null;
  /** Stores the refusals since the last call, for `doctor`. */
  readonly keep: (more: Readonly<Record<string, number>>) => Promise<void>;
  /** The log. */
  readonly log: Log;
  /** A clock that never jumps, ms. @default performance.now */
  readonly steady?: () => number;
  /** Whether it looks automatically; if not, call `look()`. @default true */
  readonly timer?: boolean;
}

/**
 * Writes refused requests to the log, at most one line a minute. When the
 * address in the service's dashboard is wrong, its own deliveries are among
 * them, and it switches delivery off in the end.
 */
export class RefusalLog implements AsyncDisposable {
  readonly #options: RefusalLogOptions;
  readonly #steady: () => number;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #wrongPath = 0;
  #logged: Counts = {};
  #loggedAtMs = -Infinity;

  /** Starts to report refusals. */
  constructor(options: RefusalLogOptions) {
    this.#options = options;
    this.#steady = options.steady ?? (() => performance.now());
    if (options.timer === false) return;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /** A delivery came to a path that is not the endpoint's. */
  readonly wrongPath = (): void => {
    this.#wrongPath++;
  };

  /** Logs and stores the refusals since the last line. */
  async look(now = false): Promise<void> {
    if (!now && this.#steady() - this.#loggedAtMs < LOG_EVERY_MS) return;
    const { refused, keep, log } = this.#options;
    const counts: Counts = this.#wrongPath === 0
      ? refused()
      : { ...refused(), wrong_path: this.#wrongPath };
    const more = Object.fromEntries(
      Object.entries(counts)
        .map(([reason, count]) =>
          [reason, count - (this.#logged[reason as Reason] ?? 0)] as const
        )
        .filter(([, count]) => count > 0),
    );
    if (Object.keys(more).length === 0) return;
    this.#logged = counts;
    this.#loggedAtMs = this.#steady();
    const address = "not_allowed" in more
      ? this.#options.lastNotAllowed?.() ?? "unknown"
      : null;
    log("warn", "requests_refused", {
      refused: more,
      ...(address === null ? {} : { lastNotAllowed: address }),
    });
    try {
      await keep(more);
    } catch (error) {
      log("warn", "refusals_not_kept", { message: messageOf(error) });
    }
  }

  /** Writes the rest, and looks no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.look(true);
  }
}
