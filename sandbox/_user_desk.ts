import { unitsOf } from "./_decimals.ts";
import type { Maker, UserInput } from "./_maker.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import type { Teller } from "./_teller.ts";
import type { UserBook } from "./_user_book.ts";
import { takeUserStep, type UserStep } from "./user_life.ts";

/** What moving users needs. */
export interface UserDeskOptions {
  readonly users: UserBook;
  readonly maker: Maker;
  readonly teller: Teller;
}

/** Makes users, and lets them take their steps. */
export class UserDesk {
  readonly #options: UserDeskOptions;

  constructor(options: UserDeskOptions) {
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

  /** A new user. */
  create(input: UserInput, atMs: number): SandboxUser {
    const { users, maker } = this.#options;
    const user = maker.user(input, atMs);
    users.put(user);
    return user;
  }

  /** The user with this id, or a new one, verified and with a card. */
  buyer(userId: string | undefined, atMs: number): SandboxUser {
    const { users, maker } = this.#options;
    const known = users.get(userId ?? "");
    if (known) return known;
    const made = maker.user({
      lkyc: "success",
      cards: [maker.card(atMs)],
    }, atMs);
    const user = userId === undefined ? made : { ...made, userId };
    users.put(user);
    return user;
  }

  /** A user takes a step, and its webhook is sent. */
  advance(
    userId: string,
    step: UserStep,
    place: { clickId?: string; sessionId?: string | null },
    nowMs: number,
  ): SandboxUser {
    const { users, maker, teller } = this.#options;
    const taken = takeUserStep(this.mustGet(userId), step, {
      card: maker.card(nowMs),
    });
    users.put(taken.user);
    teller.user(taken, place);
    return taken.user;
  }

  /** A user is rewritten. */
  amend(
    userId: string,
    change: Partial<Omit<SandboxUser, "userId" | "createdAtMs">>,
  ): SandboxUser {
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
