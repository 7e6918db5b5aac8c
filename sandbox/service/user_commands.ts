import { unitsOf } from "../seeded/seeded_values.ts";
import type { EntityFactory, UserInput } from "../engine/entity_factory.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { SandboxUser } from "../engine/sandbox_user.ts";
import type { WebhookEmitter } from "../delivery/webhook_emitter.ts";
import type { UserStore } from "../engine/user_store.ts";
import { takeUserStep, type UserStep } from "../engine/user_steps.ts";

/** Options of {@linkcode UserCommands}. */
export interface UserCommandsOptions {
  readonly users: UserStore;
  readonly factory: EntityFactory;
  readonly emitter: WebhookEmitter;
  /** The service's own time. */
  readonly now: () => number;
}

/** Fields of a user that a test may rewrite. */
export type UserChange = Partial<Omit<SandboxUser, "userId" | "createdAtMs">>;

/** Where a user takes a step. */
export interface UserStepPlace {
  readonly clickId?: string;
  readonly sessionId?: string | null;
}

/** Everything that changes a user. */
export class UserCommands {
  readonly #options: UserCommandsOptions;

  constructor(options: UserCommandsOptions) {
    this.#options = options;
  }

  /** The user with this id, or null. */
  get(userId: string): SandboxUser | null {
    return this.#options.users.get(userId);
  }

  /** The user with this id; throws if there is none. */
  mustGet(userId: string): SandboxUser {
    const user = this.get(userId);
    if (user) return user;
    throw new RangeError(`Cannot find user "${userId}" in the sandbox`);
  }

  /** Creates a user, without a webhook. */
  create(
    input: UserInput = {},
    atMs: number = this.#options.now(),
  ): SandboxUser {
    const { users, factory } = this.#options;
    const user = factory.user(input, atMs);
    users.put(user);
    return user;
  }

  /** The user with this id, or a new verified one who has a card. */
  buyer(userId: string | undefined, atMs: number): SandboxUser {
    const { users, factory } = this.#options;
    const known = users.get(userId ?? "");
    if (known) return known;
    const made = factory.user({
      lkyc: "success",
      cards: [factory.card(atMs)],
    }, atMs);
    const user = userId === undefined ? made : { ...made, userId };
    users.put(user);
    return user;
  }

  /** Lets a user take a step, and sends its webhook. */
  advance(
    userId: string,
    step: UserStep,
    place: UserStepPlace = {},
  ): SandboxUser {
    const { users, factory, emitter, now } = this.#options;
    const taken = takeUserStep(this.mustGet(userId), step, {
      card: factory.card(now()),
    });
    users.put(taken.user);
    emitter.user(taken, place);
    return taken.user;
  }

  /** Rewrites a user, without a webhook. */
  amend(userId: string, change: UserChange): SandboxUser {
    const user = { ...this.mustGet(userId), ...change };
    this.#options.users.put(user);
    return user;
  }

  /** Adds what a completed order cost to what its user has spent. */
  spend(order: SandboxOrder): void {
    const user = this.get(order.userId);
    if (!user) return;
    const cents = unitsOf(order.currencyAmount, 2);
    this.#options.users.put(
      order.cryptoType === "sc"
        ? { ...user, goodsSpentCents: user.goodsSpentCents + cents }
        : { ...user, spentCents: user.spentCents + cents },
    );
  }
}
