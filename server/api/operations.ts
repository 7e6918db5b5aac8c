import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import {
  actionOf,
  type Operation,
  type OperationContext,
  type OperationValues,
  type ServicePort,
} from "../../resources/operations/operation.ts";
import type { Poller } from "../../sync/mod.ts";
import type { Log } from "../monitoring/logger.ts";
import type { Caller } from "./problem.ts";

/** What the operations work with. */
export interface OperationsOptions {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Receives one line for each operation. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Polls in this process; null when nothing does. */
  readonly poller: Pick<Poller, "pollNow"> | null;
  /** Asks the service; null without an API key. */
  readonly service: ServicePort | null;
  /** Asks the partner's chain nodes; null where none are known. @default {null} */
  readonly lookAtChain?: OperationContext["lookAtChain"];
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/**
 * What can be done from outside while the service runs. Each operation leaves a
 * line in the log that names who asked for it.
 */
export class Operations {
  readonly #options: OperationsOptions;

  /** @param options What they work with. */
  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Whether the partner's chain nodes can be asked. */
  get asksChain(): boolean {
    return (this.#options.lookAtChain ?? null) !== null;
  }

  /**
   * Does what a caller asks for.
   *
   * @throws {UsageError} When the values do not go together.
   * @throws {CommandError} When it cannot be done.
   */
  async operate(
    caller: Pick<Caller, "name">,
    operation: Operation,
    values: OperationValues,
  ): Promise<object> {
    const context = this.context();
    operation.checks?.(values, context);
    const result = await operation.run(context, values);
    this.#report(caller, operation, {
      ...operation.logged?.(result, values) ?? { ...values, ...result },
    });
    return result;
  }

  /** What operations work with in this process. */
  context(look?: LookAtHealth): OperationContext {
    const { ledger, now, service, poller, lookAtChain, signal } = this.#options;
    return {
      ...{ ledger, now, service, poller, signal },
      nowMs: now(),
      named: (param) => param,
      onProgress: () => {},
      note: () => {},
      files: null,
      ...defined({ look, lookAtChain }),
    };
  }

  #report(
    { name }: Pick<Caller, "name">,
    operation: Operation,
    facts: Readonly<Record<string, unknown>>,
  ): void {
    const action = actionOf(operation);
    this.#options.log("info", "operated", { action, by: name, ...facts });
  }
}
