import type { UsersAsk } from "./_query.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import { SortedIds } from "./_sorted.ts";

/** A page of users as the service would cut it. */
export interface UserPage {
  readonly users: readonly SandboxUser[];
  readonly total: number;
}

/** Every user of the service. */
export class UserBook {
  readonly #users = new Map<string, SandboxUser>();
  readonly #sorted = new SortedIds();
  readonly #byPhone = new Map<string, string>();

  /** Number of users. */
  get size(): number {
    return this.#users.size;
  }

  /** The user with this id, or null. */
  get(userId: string): SandboxUser | null {
    return this.#users.get(userId) ?? null;
  }

  /** The user with this phone number, or null. */
  withPhone(phone: string): SandboxUser | null {
    return this.get(this.#byPhone.get(phone) ?? "");
  }

  /** Every user, oldest first. */
  all(): SandboxUser[] {
    return this.#sorted.between(-Infinity, Infinity).flatMap((id) =>
      this.#users.get(id) ?? []
    );
  }

  /** Stores a user, new or changed; its creation time never changes. */
  put(user: SandboxUser): void {
    if (!this.#users.has(user.userId)) {
      this.#sorted.add(user.createdAtMs, user.userId);
      this.#byPhone.set(user.phone, user.userId);
    }
    this.#users.set(user.userId, user);
  }

  /** The page that `ask` asks for, at most `most` users long. */
  page(ask: UsersAsk, most: number): UserPage {
    const ids = this.#sorted.between(
      ask.fromMs ?? -Infinity,
      ask.toMs ?? Infinity,
    );
    if (!ask.ascending) ids.reverse();
    const matching = ids.flatMap((id) => {
      const user = this.#users.get(id);
      return user && matches(user, ask) ? user : [];
    });
    const length = Math.min(ask.limit, most);
    return {
      users: matching.slice(ask.offset, ask.offset + length),
      total: matching.length,
    };
  }
}

function matches(user: SandboxUser, ask: UsersAsk): boolean {
  return (ask.userIds === null || ask.userIds.has(user.userId)) &&
    (ask.lkyc === null || user.lkyc === ask.lkyc) &&
    (ask.fkyc === null || user.fkyc === ask.fkyc) &&
    (ask.phoneCountry === null || user.phoneCountry === ask.phoneCountry) &&
    (ask.kycCountry === null || user.country === ask.kycCountry);
}
