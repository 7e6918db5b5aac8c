import * as z from "zod/mini";
import {
  type IncompleteReason,
  type Order,
  type OrdersQuery,
  type Page,
  rowsOn,
  type User,
  type UsersQuery,
  type UsersWalkQuery,
} from "../core/wire/objects.ts";
import { readOrderRow, readUserRow } from "../core/wire/fields.ts";
import { readServiceTime } from "../core/time/service_time.ts";
import { type Api, promised } from "./transport.ts";
import type {
  CallOptions,
  ExtraParameters,
  ListOptions,
  PageOptions,
  UserOptions,
} from "./call_options.ts";
import { type Fault, ResponseError } from "./errors.ts";
import { refuseFaults } from "./faults.ts";
import { type PageForm, pageOf } from "./page.ts";
import { checkQuery, type Kind, PAGE_ROWS, type QueryTable } from "./query.ts";
import { checkUserInput, type CreatedUser, type UserInput } from "./users.ts";
import {
  cursorPass,
  offsetPass,
  PagedWalk,
  type Pass,
  type Walk,
  windowPass,
} from "./walk.ts";

/** A walk over orders. */
export type OrderWalk = Walk<Order>;
/** A walk over users. */
export type UserWalk = Walk<User>;

/** Orders. */
export interface OrdersApi {
  /**
   * Reads one page of orders. A field that cannot be read is left out and
   * listed in `oddFields`; it never costs the other orders of the page.
   *
   * @throws {ValidationError} When the query breaks a rule.
   * @throws {OnrampError} When the call fails.
   */
  page(query?: OrdersQuery, options?: PageOptions): Promise<Page<Order>>;
  /**
   * Walks over all pages, by cursor; by offset where the query names one, or
   * where the service answers in its earlier form, which has no cursor.
   * A page holds 20 orders unless the query says otherwise.
   *
   * @throws {ValidationError} When the query breaks a rule, or its limit is 0.
   */
  list(query?: OrdersQuery, options?: ListOptions): OrderWalk;
  /**
   * Reads one order by order id, external order id or click id, in this order
   * of preference. Of several orders of a click id the latest is given: use
   * `list({ search_by })` to see them all.
   *
   * @returns The order, or null when the service has none.
   * @throws {ValidationError} When the id is empty or holds a comma.
   * @throws {ResponseError} `wrong_order` when the service answers with orders
   * that were not asked for, or that state no identifier.
   * @throws {OnrampError} When the call fails.
   */
  get(id: string, options?: CallOptions): Promise<Order | null>;
}

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

/** How long after its creation an item may still appear, in milliseconds. */
const SETTLE_MS = 60_000;

/** All that is known of a list of the service. */
interface ListForm<Query, Row> extends QueryTable, PageForm<Row> {
  readonly item: "order" | "user";
  readonly kinds: Readonly<Record<keyof Query & string, Kind>>;
  /** Filters on what changes while walking: their pages shift under the reader. */
  readonly changing: readonly (keyof Query & string)[];
  /** The parameter that selects by id, and what it is called. */
  readonly by: readonly [keyof Query & string, "search" | "filter"];
}

/** The list of orders. */
export const ORDERS: ListForm<OrdersQuery, Order> = {
  item: "order",
  id: "order_id",
  read: readOrderRow,
  kinds: {
    limit: "limit",
    cursor_id: "cursor",
    offset: "offset",
    search_by: "list",
    order_by: "order",
    start_date: "time",
    end_date: "time",
    status: "text",
    commodity: "dotted",
    user_ids: "list",
    card_id: "text",
    tx_id: "text",
    fail_reason: "text",
    payment_type: "text",
  },
  range: ["start_date", "end_date"],
  changing: ["status", "card_id", "tx_id", "fail_reason", "payment_type"],
  by: ["search_by", "search"],
  meant: {
    order_id: "search_by",
    order_ids: "search_by",
    click_id: "search_by",
    external_order_id: "search_by",
    user_id: "user_ids",
    crypto: "commodity",
    from: "start_date",
    to: "end_date",
    cursor: "cursor_id",
    next_cursor_id: "cursor_id",
  },
};

/** The list of users. */
export const USERS: ListForm<UsersQuery, User> = {
  item: "user",
  id: "user_id",
  read: readUserRow,
  kinds: {
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
  },
  range: ["from", "to"],
  changing: ["lkyc_status", "fkyc_status", "phone_country", "kyc_country"],
  by: ["user_ids", "filter"],
  meant: {
    user_id: "user_ids",
    start_date: "from",
    end_date: "to",
    country: "kyc_country",
    cursor_id: "offset; users have no cursor",
  },
};

/** Makes the orders part of a client. */
export function ordersApi(api: Api): OrdersApi {
  const orders = listApi(api, ORDERS);
  return {
    page: orders.page,
    list: (query = {}, options = {}) =>
      orders.walk(query, options, (read, wanted) => {
        const { prove } = options;
        const pass = (order?: "asc" | "desc") => {
          const one = order ? { ...wanted, order_by: order } : wanted;
          return query.offset === undefined
            ? cursorPass(read, one)
            : offsetPass(read, one);
        };
        const first = query.order_by ?? (prove ? "asc" : undefined);
        return [pass(first), pass(first === "asc" ? "desc" : "asc")];
      }),
    get: (id, options) =>
      orders.get(
        id,
        options,
        (found) =>
          found.find((order) => order.order_id === id) ??
            found.find((order) => order.external_order_id === id) ??
            latest(found.filter((order) => order.click_id === id)),
      ),
  };
}

function latest(orders: readonly Order[]): Order | undefined {
  const createdMs = ({ created_at }: Order) =>
    readServiceTime(created_at ?? "") ?? -Infinity;
  return orders.reduce<Order | undefined>(
    (best, order) => best && createdMs(best) >= createdMs(order) ? best : order,
    undefined,
  );
}

const createdUserSchema = z.looseObject({
  user_id: z.string().check(z.minLength(1)),
  created_at: z.string(),
});

/** Makes the users part of a client. */
export function usersApi(api: Api): UsersApi {
  const users = listApi(api, USERS);
  return {
    page: users.page,
    list: (query = {}, options = {}) =>
      users.walk(
        query,
        options,
        (read, wanted) => [
          windowPass(read, wanted, api.now),
          offsetPass(read, { ...wanted, order_by: "desc" }),
        ],
        chosenInWalk(query),
      ),
    get: (id, options) =>
      users.get(
        id,
        options,
        (found) => found.find((one) => one.user_id === id),
      ),
    async create(input, { signal, extra = {} } = {}) {
      const action = "Cannot create the user";
      refuseFaults(action, checkUserInput(input, extra));
      const answer = await api.ask({
        operation: "users.create",
        action,
        url: `${api.environment.baseUrl}/api/external/users/create`,
        body: JSON.stringify({ ...input, ...extra }),
        signal,
      });
      const { user_id, created_at } = promised(
        createdUserSchema,
        answer,
        action,
      );
      return { user_id, created_at };
    },
  };
}

function chosenInWalk(query: UsersQuery): readonly Fault[] {
  return (["offset", "order_by"] as const)
    .filter((field) => query[field] !== undefined)
    .map((field) => ({
      field,
      rule: "cannot be chosen in a walk, which ascends in windows; use page()",
    }));
}

/** What both lists have of a query. */
interface AnyQuery {
  readonly limit?: number;
  readonly cursor_id?: string;
  readonly offset?: number;
}

/** What both lists can do. */
function listApi<Query extends AnyQuery, Row>(
  api: Api,
  form: ListForm<Query, Row>,
) {
  const action = `Cannot read ${form.item}s`;

  async function page(
    query: Query = {} as Query,
    { extra, signal }: PageOptions = {},
  ): Promise<Page<Row>> {
    const { faults, parameters } = checkQuery(query, form, extra);
    refuseFaults(action, faults);
    const asked = parameters.map(([name, value]) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    ).join("&");
    const answer = await api.ask({
      operation: `${form.item}s.page`,
      action,
      url: `${api.environment.baseUrl}/api/external/${form.item}s` +
        (asked === "" ? "" : `?${asked}`),
      body: null,
      signal,
    });
    return pageOf<Row>(answer, action, form, query.offset ?? 0);
  }

  /** Reads a page, and fewer rows of it where together they are too large. */
  async function pageOrPart(
    query: Query,
    options: ListOptions,
  ): Promise<Page<Row>> {
    for (let { limit = PAGE_ROWS } = query;; limit = Math.floor(limit / 2)) {
      try {
        return await page({ ...query, limit }, options);
      } catch (error) {
        const isLarge = error instanceof ResponseError &&
          error.code === "too_large";
        if (!isLarge || limit <= 1) throw error;
      }
    }
  }

  function walk(
    query: Query,
    options: ListOptions,
    passes: (
      read: (query: Query) => Promise<Page<Row>>,
      wanted: Query,
    ) => readonly [first: Pass<Row>, second: Pass<Row>],
    more: readonly Fault[] = [],
  ): Walk<Row> {
    const { prove = false, settleMs = SETTLE_MS, extra = {} } = options;
    refuseFaults(action, [
      ...checkQuery(query, form, extra).faults,
      ...more,
      ...setByWalk(form, extra),
      ...(query.limit === 0 ? [zeroLimit] : []),
    ]);
    const [first, second] = passes(
      (one) => pageOrPart(one, options),
      { limit: PAGE_ROWS, ...query },
    );
    const end = query[form.range[1] as keyof Query];
    return new PagedWalk<Row>({
      idOf: (row) => String(row[form.id]),
      first,
      second: prove ? second : null,
      unprovable: whyUnprovable(query, form, extra),
      windowEndMs: end === undefined
        ? null
        : new Date(end as string | Date).getTime(),
      settleMs,
    });
  }

  async function get(
    id: string,
    options: CallOptions | undefined,
    pick: (found: readonly Row[]) => Row | undefined,
  ): Promise<Row | null> {
    const [field, what] = form.by;
    if (typeof id !== "string" || id.trim() === "" || id.includes(",")) {
      refuseFaults("Cannot read one item", [{
        field,
        rule: "must be one identifier, not empty and without commas",
      }]);
    }
    const query = { [field]: id, limit: PAGE_ROWS } as unknown as Query;
    const answer = await page(query, options);
    const found = pick(answer.data);
    if (found !== undefined) return found;
    // A row without identifier may be the item: that is not "none".
    if (rowsOn(answer) === 0) return null;
    const { requestId } = answer;
    throw new ResponseError(
      `Cannot read the ${form.item}: the service answered with ` +
        `${form.item}s that were not asked for or have no identifier; the ` +
        `${what} may be broken at the service`,
      { code: `wrong_${form.item}`, status: 200, requestId },
    );
  }

  return { page, walk, get };
}

const zeroLimit: Fault = {
  field: "limit",
  rule: `is 0, which no walk can end with; use 1 to ${PAGE_ROWS}, or page()`,
};

/** The faults of extra parameters that the walk sets, or is measured by. */
function setByWalk(
  { kinds }: QueryTable,
  extra: ExtraParameters,
): readonly Fault[] {
  const own: readonly unknown[] = [
    "limit",
    "cursor",
    "offset",
    "order",
    "time",
  ];
  return Object.keys(kinds)
    .filter((name) => Object.hasOwn(extra, name) && own.includes(kinds[name]))
    .map((field) => ({ field, rule: "is set by the walk itself; use page()" }));
}

function whyUnprovable<Query extends AnyQuery>(
  query: Query,
  { changing }: Pick<ListForm<Query, unknown>, "changing">,
  extra: ExtraParameters,
): IncompleteReason | null {
  const filter = changing.find((name) => query[name] !== undefined);
  if (filter !== undefined) return { code: "filter_changes", filter };
  if (query.cursor_id || query.offset) return { code: "begun_in_the_middle" };
  const [unknown] = Object.keys(extra);
  return unknown === undefined
    ? null
    : { code: "filter_unknown", filter: unknown };
}
