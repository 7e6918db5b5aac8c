import type { UsersQuery, UsersWalkQuery } from "../../core/wire/queries.ts";
import { type Api, refuseFaults } from "../http/api.ts";
import type {
  CallOptions,
  ExtraParameters,
  ListOptions,
  PageOptions,
  UserOptions,
} from "../http/call_options.ts";
import type { Fault } from "../errors/validation_error.ts";
import {
  endOf,
  pageReader,
  refuseId,
  SETTLE_MS,
  walkedBy,
  whyExtraUnprovable,
  wrongItem,
  zeroLimit,
} from "./_lists.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";
import { promised } from "../http/caller.ts";
import { offsetPass, windowPass } from "./passes.ts";
import { readUserRow } from "../../core/wire/read_row.ts";
import { createdUserSchema } from "./schemas.ts";
import type { User } from "../../core/wire/user.ts";
import {
  checkUserInput,
  type CreatedUser,
  type UserInput,
} from "./user_input.ts";
import {
  type CheckedQuery,
  checkQuery,
  type Kind,
  PAGE_ROWS,
} from "./_query.ts";
import { PagedWalk, type Walk } from "./paged_walk.ts";

/** A walk over users. */
export type UserWalk = Walk<User>;

/** Users. */
export interface UsersApi {
  /**
   * Reads one page of users. A field that cannot be read is left out and
   * listed in `oddFields`; it never costs the other users of the page.
   *
   * @throws {ValidationError} When the query breaks a rule.
   * @throws {OnrampError} When the call fails.
   */
  page(query?: UsersQuery, options?: PageOptions): Promise<Page<User>>;
  /**
   * Walks over all users by ascending creation time, in overlapping windows,
   * so that users created during the walk do not hide others.
   *
   * @throws {ValidationError} When the query breaks a rule, or its limit is 0.
   */
  list(query?: UsersWalkQuery, options?: ListOptions): UserWalk;
  /**
   * Reads one user.
   *
   * @returns The user, or null when the service has none.
   * @throws {ValidationError} When the id is empty or holds a comma.
   * @throws {ResponseError} `wrong_user` when the service answers with users
   * that were not asked for, or that state no identifier.
   * @throws {OnrampError} When the call fails.
   */
  get(id: string, options?: CallOptions): Promise<User | null>;
  /**
   * Creates a user and starts light verification. Enabled per partner.
   *
   * It is retried if the answer is lost; if the first attempt did create the
   * user, the {@linkcode ConflictError} names that user.
   *
   * @throws {ValidationError} When the input breaks a rule; lists every fault.
   * @throws {ConflictError} When a user with this phone exists.
   * @throws {OnrampError} When the call fails.
   */
  create(input: UserInput, options?: UserOptions): Promise<CreatedUser>;
}

const action = "Cannot read users";
const createAction = "Cannot create the user";

const changing = [
  "lkyc_status",
  "fkyc_status",
  "phone_country",
  "kyc_country",
] as const;

/** Parameters that a walk sets on each page. */
const walked = ["limit", "offset", "order_by", "from", "to"] as const;

/** Makes the users part of a client. */
export function usersApi(api: Api): UsersApi {
  const page = pageReader<UsersQuery, User>(api, {
    operation: "users.page",
    action,
    url: `${api.environment.baseUrl}/api/external/users`,
    check: checkUsersQuery,
    rows: { id: "user_id", read: readUserRow },
  });

  function list(
    query: UsersWalkQuery = {},
    options: ListOptions = {},
  ): UserWalk {
    const { prove = false, settleMs = SETTLE_MS, extra } = options;
    const { faults } = checkUsersQuery(query, extra);
    refuseFaults(action, [
      ...faults,
      ...walkFaults(query),
      ...walkedBy(walked, extra),
    ]);
    const read = (one: UsersQuery) => page(one, options);
    const wanted: UsersQuery = { limit: PAGE_ROWS, ...query };
    const filter = changing.find((name) => query[name] !== undefined);
    const idOf = (user: User) => user.user_id;
    return new PagedWalk<User>({
      idOf,
      first: windowPass(read, wanted, api.now),
      second: prove ? offsetPass(read, { ...wanted, order_by: "desc" }) : null,
      unprovable: filter === undefined
        ? whyExtraUnprovable(extra)
        : { code: "filter_changes", filter },
      windowEndMs: endOf(query.to),
      settleMs,
    });
  }

  async function get(
    id: string,
    options: CallOptions = {},
  ): Promise<User | null> {
    refuseId("user_ids", id);
    const answer = await page({ user_ids: id, limit: PAGE_ROWS }, options);
    const { data, requestId } = answer;
    const found = data.find((user) => user.user_id === id);
    if (found !== undefined) return found;
    // A row without identifier may be the user: that is not "none".
    if (rowsOn(answer) === 0) return null;
    throw wrongItem("user", "filter", requestId);
  }

  async function create(
    input: UserInput,
    { signal, extra = {} }: UserOptions = {},
  ): Promise<CreatedUser> {
    refuseFaults(createAction, checkUserInput(input, extra));
    const answer = await api.ask({
      operation: "users.create",
      action: createAction,
      method: "POST",
      url: `${api.environment.baseUrl}/api/external/users/create`,
      body: JSON.stringify({ ...input, ...extra }),
      repeatable: true,
      secrets: [],
      signal,
    });
    const { user_id, created_at } = promised(
      createdUserSchema,
      answer,
      createAction,
    );
    return { user_id, created_at };
  }

  return { page, list, get, create };
}

function walkFaults(
  query: UsersQuery,
): readonly Fault[] {
  const faults: Fault[] = [];
  if (query.limit === 0) faults.push(zeroLimit);
  for (const field of ["offset", "order_by"] as const) {
    if (query[field] === undefined) continue;
    faults.push({
      field,
      rule: "cannot be chosen in a walk, which ascends in windows; use page()",
    });
  }
  return faults;
}

/** What each parameter takes. */
const kinds: Readonly<Record<keyof UsersQuery, Kind>> = {
  limit: "limit",
  offset: "offset",
  order_by: "order",
  from: "time",
  to: "time",
  user_ids: "list",
  lkyc_status: "text",
  fkyc_status: "text",
  phone_country: "alpha2",
  kyc_country: "alpha3",
};

/** What is probably meant by names that the endpoint does not have. */
const meant = {
  user_id: "user_ids",
  start_date: "from",
  end_date: "to",
  country: "kyc_country",
  cursor_id: "offset; users have no cursor",
};

/**
 * Checks a query of users against the table of parameters.
 *
 * @param query What to read.
 * @param extra Parameters that no rule is applied to.
 * @returns Every fault, and the parameters to send.
 * @throws {TypeError} When `query` is not an object.
 *
 * @example Find a mistyped parameter
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkUsersQuery({ kyc_country: "US" });
 * assert.deepEqual(faults.map((fault) => fault.field), ["kyc_country"]);
 * ```
 */
export function checkUsersQuery(
  query: UsersQuery,
  extra: ExtraParameters = {},
): CheckedQuery {
  return checkQuery(query, { kinds, range: ["from", "to"], meant }, extra);
}
