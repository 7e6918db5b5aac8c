import type { SessionsApi } from "../../client/mod.ts";
import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { isPolled } from "../../ledger/for_sync.ts";
import {
  type PollClient,
  type Poller,
  reconcile,
  recover,
} from "../../sync/mod.ts";
import { requestOrder } from "../../sync/for_server.ts";
import {
  type ReconcileJson,
  reconcileJson,
  type RecoverJson,
  recoverJson,
} from "../../resources/views/reconcile_view.ts";
import {
  BackgroundJob,
  type JobJson,
  type JobWindow,
} from "./background_job.ts";
import type { SessionJson } from "../../resources/views/session_view.ts";
import {
  actionOf,
  type Operation,
  type OperationContext,
  type OperationValues,
} from "../../resources/operations/operation.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { Log } from "../monitoring/logger.ts";
import type { Caller } from "./callers.ts";
import { ApiProblem } from "./problem.ts";
import {
  createSession,
  type SessionRequestJson,
} from "../../resources/operations/sessions.ts";

/** What the operations work with. */
export interface OperationsOptions {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Gets one line for each operation. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Polls in this process; null when nothing does. */
  readonly poller: Pick<Poller, "pollNow"> | null;
  /** Makes what asks the service; null without an API key. */
  readonly client: (() => PollClient) | null;
  /** Asks the partner's chain nodes; null where none are known. @default {null} */
  readonly lookAtChain?: OperationContext["lookAtChain"];
  /** Asks the service for sessions; null without an API key. @default {null} */
  readonly sessions?: Pick<SessionsApi, "create"> | null;
  /** Makes a click id. @default {crypto.randomUUID} */
  readonly newClickId?: () => string;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/**
 * What can be done from outside while the service runs. Each operation leaves a
 * line in the log that names who asked for it.
 */
export class Operations {
  /** Windows that are read again. */
  readonly recovery: BackgroundJob<RecoverJson>;
  /** Windows of which service and ledger are compared. */
  readonly reconciliation: BackgroundJob<ReconcileJson>;
  readonly #options: OperationsOptions;

  /** @param options What they work with. */
  constructor(options: OperationsOptions) {
    this.#options = options;
    this.recovery = new BackgroundJob(options);
    this.reconciliation = new BackgroundJob(options);
  }

  /**
   * Lets the poller ask the service at once.
   *
   * @throws {ApiProblem} When no poller of this process is at work.
   */
  pollNow(caller: Caller): void {
    this.#startPoller();
    this.#tell(caller, "poll", {});
  }

  /**
   * Has one order read again, before all that is not as urgent, by whichever
   * process polls.
   *
   * @throws {ApiProblem} When none does.
   */
  async readOrder(caller: Caller, orderId: string): Promise<void> {
    const { ledger, now, poller } = this.#options;
    if (poller === null && !await isPolled(ledger.driver)) {
      throw nothingPolls();
    }
    await requestOrder(ledger.driver, orderId, now());
    poller?.pollNow();
    this.#tell(caller, "read_order", { orderId });
  }

  /**
   * Begins to read a window again, behind the answer.
   *
   * @throws {ApiProblem} When the window is wrong, or one is under way; or
   * without an API key.
   */
  recover(caller: Caller, window: JobWindow): JobJson<RecoverJson> {
    const { ledger, now } = this.#options;
    const client = this.#client();
    const job = this.recovery.start(
      caller.name,
      window,
      async ({ onRead, ...work }) =>
        recoverJson(
          await recover({
            ...work,
            ledger,
            client,
            now,
            onProgress: ({ orders, users }) => onRead(orders + users),
          }),
        ),
    );
    const { id, from, to } = job;
    this.#tell(caller, "recover", { id, from, to });
    return job;
  }

  /**
   * Begins to compare service and ledger, behind the answer.
   *
   * @throws {ApiProblem} As {@linkcode Operations.recover}.
   */
  reconcile(caller: Caller, window: JobWindow): JobJson<ReconcileJson> {
    const { ledger, now } = this.#options;
    const client = this.#client();
    const assets = ledger.environment === "sandbox" ? "sandbox" : "production";
    const job = this.reconciliation.start(
      caller.name,
      window,
      async ({ onRead, ...work }) => {
        await ledger.project({ signal: work.signal });
        let compared = 0;
        const report = await reconcile({
          ...work,
          ledger,
          client,
          now,
          assets,
          all: false,
          onProgress: (count) => {
            onRead(count - compared);
            compared = count;
          },
        });
        return reconcileJson(report);
      },
    );
    const { id, from, to } = job;
    this.#tell(caller, "reconcile", { id, from, to });
    return job;
  }

  /**
   * Asks the service for a session, and records what it was asked for.
   *
   * @throws {ApiProblem} Without an API key.
   * @throws {OnrampError} When the service makes none.
   * @throws {ExpectationError} When it cannot be recorded.
   */
  async createSession(
    caller: Caller,
    request: SessionRequestJson,
  ): Promise<SessionJson> {
    const { sessions } = this.#options;
    if (!sessions) throw noKey();
    const newClickId = this.#options.newClickId ?? (() => crypto.randomUUID());
    const maker = { ...this.#options, sessions, newClickId };
    const session = await createSession(maker, request);
    const { sessionId, clickId } = session;
    this.#tell(caller, "create_session", { sessionId, clickId });
    return session;
  }

  /**
   * Does what a caller asks for.
   *
   * @throws {CommandError} When it cannot be done.
   */
  async operate(
    caller: Caller,
    operation: Operation,
    values: OperationValues,
  ): Promise<object> {
    const result = await operation.run(this.context(), values);
    const facts = operation.logged?.(result, values) ??
      { ...values, ...result };
    this.#tell(caller, actionOf(operation), { ...facts });
    return result;
  }

  /**
   * What operations work with in this process.
   *
   * @param look Looks how everything is. @default {by what the ledger has}
   */
  context(look?: LookAtHealth): OperationContext {
    const { ledger, now, client, lookAtChain } = this.#options;
    return {
      ledger,
      nowMs: now(),
      hasKey: client !== null,
      named: (param) => param,
      ...defined({ look, lookAtChain }),
    };
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    await this.recovery.stop();
    await this.reconciliation.stop();
  }

  #client(): PollClient {
    const { client } = this.#options;
    if (client !== null) return client();
    throw noKey();
  }

  #startPoller(): void {
    const { poller } = this.#options;
    if (poller === null) throw nothingPolls();
    if (!poller.pollNow()) {
      throw new ApiProblem(
        "conflict",
        "Another process polls this ledger, or the poller is just starting: " +
          "ask that process, or try again in a moment",
      );
    }
  }

  #tell(
    { name }: Caller,
    action: string,
    facts: Readonly<Record<string, unknown>>,
  ): void {
    this.#options.log("info", "operated", { action, by: name, ...facts });
  }
}

function noKey(): ApiProblem {
  return new ApiProblem(
    "conflict",
    "The service cannot be asked without an API key: set RAMPKIT_API_KEY",
  );
}

function nothingPolls(): ApiProblem {
  return new ApiProblem(
    "conflict",
    "Nothing polls in this process: start serve with an API key and without " +
      "--no-poll",
  );
}
