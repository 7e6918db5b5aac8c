import { messageOf } from "../../core/guards.ts";
import type {
  Ledger,
  OrderState,
  SubscribeOptions,
  Subscription,
  Transition,
  TransitionHandler,
  TransitionPattern,
  UserState,
} from "../../ledger/mod.ts";
import { askedForOf } from "../forwarding/transition_message.ts";
import { operands } from "../../resources/views/text.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";

/** What a handler is called with besides the transition, by its pattern. */
export type HandlerContext<On> =
  & Omit<Parameters<TransitionHandler>[1], "state">
  & {
    /** The order or user as it is now; null when the ledger has none. */
    readonly state:
      | (On extends `order.${string}` ? OrderState
        : On extends `user.${string}` ? UserState
        : OrderState | UserState)
      | null;
    /**
     * Of an order, what you asked for: what it was compared with, whether it
     * agrees or not. It names the basket of an order that waits, where
     * `reference` is null. Null where nothing fits, and of a user.
     */
    readonly askedFor: OrderState["expected"];
  };

/**
 * Called for each transition of a pattern, at least once: again when it throws,
 * and after a crash. `transition.key` recognises a repeat.
 */
export type Handler<On = "*"> = (
  transition: On extends `order.release.${string}`
    ? Transition & { readonly logged: NonNullable<Transition["logged"]> }
    : Transition,
  context: HandlerContext<On>,
) => void | Promise<void>;

/** A handler for each pattern. */
export type Handlers = {
  readonly [On in TransitionPattern]?: Handler<On>;
};

/** One pattern, as `on` takes it. */
export type Pattern = Extract<
  SubscribeOptions["on"],
  string | { unlisted: string }
>;

/** How a handler is called. */
export interface HandlerOptions extends
  Pick<
    SubscribeOptions,
    "from" | "concurrency" | "maxAttempts" | "retryDelayMs" | "leaseMs"
  > {
  /**
   * Its name in the ledger, which stores its progress: keep the name when you
   * change the code. Of several processes with the same name one calls the
   * handler at a time.
   *
   * @default {the pattern}
   */
  readonly name?: string;
}

/** What handlers are called with. */
export interface HandlersParts {
  /** Whose transitions they take. */
  readonly ledger: Ledger;
  /** Called with handlers that fail. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Where a name that was never used begins, unless it is stated. */
  readonly from: "now" | "start";
  /** Replaced where time is virtual. @default {those of the subscription} */
  readonly timing?: Pick<SubscribeOptions, "start" | "steadyNow" | "sleep">;
}

/** Attempts before a transition is dead, unless stated otherwise. */
const MOST_ATTEMPTS = 10;

/** The handlers of a program, each a subscription of its ledger. */
export class HandlerList {
  readonly #parts: HandlersParts;
  readonly #subscriptions = new Map<string, Subscription>();

  /** Begins without handlers. */
  constructor(parts: HandlersParts) {
    this.#parts = parts;
  }

  /** What they are called through. */
  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions.values()];
  }

  /**
   * Calls a handler for each transition of a pattern from now on.
   *
   * @throws {TypeError} For a pattern that names no state, and for a name that
   * another handler has.
   */
  async add<On extends Pattern>(
    on: On | readonly On[],
    handler: Handler<On>,
    { name = nameOf(on), ...options }: HandlerOptions = {},
  ): Promise<Subscription> {
    if (this.#subscriptions.has(name)) {
      throw new TypeError(
        `Cannot take two handlers named "${name}": give each a name of its ` +
          'own, for example { name: "mail" }',
      );
    }
    const { ledger, from, timing } = this.#parts;
    const report = new HandlerReport({ ...this.#parts, name });
    const { maxAttempts = MOST_ATTEMPTS } = options;
    const subscription = await ledger.subscribe(
      name,
      {
        from,
        ...options,
        ...timing,
        maxAttempts,
        on,
        onError: (error) => report.databaseFailed(error),
      },
      async (transition, context) => {
        try {
          await (handler as Handler)(transition, {
            ...context,
            askedFor: askedForOf(context.state),
          });
        } catch (error) {
          report.failed(transition.key, error, context.attempt >= maxAttempts);
          throw error;
        }
        report.worked(transition.key);
      },
    );
    this.#subscriptions.set(name, subscription);
    return subscription;
  }
}

/** A name from the patterns. */
function nameOf(on: SubscribeOptions["on"]): string {
  return [on].flat().map((one) => typeof one === "string" ? one : one.unlisted)
    .join(", ");
}

/** Reports a handler: once when it fails, and once when it works again. */
class HandlerReport {
  readonly #parts: Pick<HandlersParts, "log"> & { readonly name: string };
  readonly #failing: Alarm;
  readonly #keys = new Set<string>();

  constructor(
    parts: Pick<HandlersParts, "log" | "now"> & { readonly name: string },
  ) {
    this.#parts = parts;
    this.#failing = new Alarm(parts.log, "handler_failing", parts.now);
  }

  failed(key: string, error: unknown, isLast: boolean): void {
    const { log, name } = this.#parts;
    const place = placeOf(error);
    const message = `${name}: ${messageOf(error)}` +
      (place === null ? "" : ` (at ${place})`);
    if (isLast) {
      this.#keys.delete(key);
      log("error", "handler_dead", {
        name,
        key,
        message,
        error,
        advice: `Fix the handler, then: rampkit subscriptions retry ${
          operands(name)
        }`,
      });
      return;
    }
    this.#keys.add(key);
    this.#failing.raise({
      name,
      key,
      message,
      error,
      advice: "Fix the handler: what it threw is in the message",
    });
  }

  worked(key: string): void {
    this.#keys.delete(key);
    if (this.#keys.size > 0) return;
    this.#failing.clear({ name: this.#parts.name });
  }

  databaseFailed(error: unknown): void {
    this.#failing.raise({
      name: this.#parts.name,
      message: `${this.#parts.name}: ${messageOf(error)}`,
      advice: "The database fails: check its disk or server",
    });
  }
}

/**
 * Where the program's own code threw: the first place of the stack that is
 * neither the runtime's nor of a package; null where the stack names none.
 */
function placeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  for (const line of (error.stack ?? "").split("\n")) {
    const place = PLACE.exec(line)?.[1];
    if (place !== undefined && !FOREIGN.test(place)) {
      return place.replace(/^file:\/\//, "");
    }
  }
  return null;
}

/** A line of a stack, as V8 and Bun write it. */
const PLACE = /^\s*at (?:.* \()?(\S+:\d+:\d+)\)?$/;
const FOREIGN = /^(?:node|ext|internal|https?):|\/node_modules\//;
