import type { SandboxUser } from "./sandbox_user.ts";
import { SortedIds } from "./order_store.ts";

/** A page of users as the service would cut it. */
export interface UserPage {
  readonly users: readonly SandboxUser[];
  readonly total: number;
}

/** Every user of the service. */
export class UserStore {
  readonly #users = new Map<string, SandboxUser>();
  readonly #sorted = new SortedIds();
  readonly #byPhone = new Map<string, string>();
  /** Users who can buy, so that a visit need not search all users. */
  readonly #buyers = new SortedIds();

  /** Number of users. */
  get size(): number {
    return this.#users.size;
  }

  /** The user with this id, or null. */
  get(userId: string): SandboxUser | null {
    return this.#users.get(userId) ?? null;
  }

  /** Number of users who are verified and not banned. */
  get buyerCount(): number {
    return this.#buyers.size;
  }

  /** One of the users who are verified and not banned, by place in age. */
  buyer(place: number): SandboxUser | null {
    return this.get(this.#buyers.at(place) ?? "");
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
    const before = this.#users.get(user.userId);
    const { createdAtMs, userId } = user;
    if (before === undefined) {
      this.#sorted.add(user.createdAtMs, user.userId);
      this.#byPhone.set(user.phone, user.userId);
    }
    this.#users.set(user.userId, user);
    const couldBuy = before !== undefined && canBuy(before);
    if (canBuy(user) === couldBuy) return;
    if (couldBuy) this.#buyers.remove(createdAtMs, userId);
    else this.#buyers.add(createdAtMs, userId);
  }

  /** The page that `query` asks for, at most `most` users long. */
  page(query: UsersQuery, most: number): UserPage {
    const ids = this.#sorted.between(
      query.fromMs ?? -Infinity,
      query.toMs ?? Infinity,
    );
    if (!query.ascending) ids.reverse();
    const matching = ids.flatMap((id) => {
      const user = this.#users.get(id);
      return user && matches(user, query) ? user : [];
    });
    const length = Math.min(query.limit, most);
    return {
      users: matching.slice(query.offset, query.offset + length),
      total: matching.length,
    };
  }
}

function canBuy(user: SandboxUser): boolean {
  return user.lkyc === "success" && !user.banned;
}

function matches(user: SandboxUser, query: UsersQuery): boolean {
  return (query.userIds === null || query.userIds.has(user.userId)) &&
    (query.lkyc === null || user.lkyc === query.lkyc) &&
    (query.fkyc === null || user.fkyc === query.fkyc) &&
    (query.phoneCountry === null || user.phoneCountry === query.phoneCountry) &&
    (query.kycCountry === null || user.country === query.kycCountry);
}

/** Which users a reader wants, and in which order. Sets are never empty. */
export interface UsersQuery {
  readonly limit: number;
  readonly offset: number;
  readonly ascending: boolean;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly lkyc: string | null;
  readonly fkyc: string | null;
  readonly phoneCountry: string | null;
  readonly kycCountry: string | null;
}
