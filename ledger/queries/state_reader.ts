import { readUserActivity } from "../users/user_activity.ts";
import { type OrderContext, orderOf } from "../attention/attention.ts";
import {
  type OrderActivity,
  readOrderActivity,
} from "../orders/order_activity.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Entity } from "../machines/transition.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import type { PageEnd } from "../store/tables/query_values.ts";
import type { PageQuery, Selection } from "../store/tables/lists/selection.ts";
import { selectPage, selectState } from "../store/tables/lists/state_pages.ts";

/** One page of states. */
export interface StatePage<View> {
  /** The states. */
  readonly views: readonly View[];
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
  /** As in {@linkcode RowPage}. */
  readonly searchedTo: PageEnd | null;
}

/** Reads the states of orders, or those of users. */
export class StateReader<View, Query extends PageQuery> {
  readonly #driver: Driver;
  readonly #entity: Entity;
  readonly #selection: (query: Query) => Selection;

  /**
   * Reads the states of a database.
   *
   * @param driver The database of a ledger.
   * @param entity Whether orders or users are read.
   * @param selection What a query selects.
   */
  constructor(
    driver: Driver,
    entity: Entity,
    selection: (query: Query) => Selection,
  ) {
    this.#driver = driver;
    this.#entity = entity;
    this.#selection = selection;
  }

  /** Reads one state; null when no event names the id. */
  async get(id: string): Promise<View | null> {
    const [view] = await this.select(selectState(this.#entity, id));
    return view ?? null;
  }

  /** Reads the rows of a statement: state and activity. */
  async select(statement: Statement): Promise<View[]> {
    const [result] = await this.#driver.batch([statement], "read");
    return result?.rows.map(([state, activity, ...context]) =>
      this.#viewOf(state as string, activity as string, context)
    ) ?? [];
  }

  /** Reads one page. */
  async page(query: Query): Promise<StatePage<View>> {
    const selection = this.#selection(query);
    const { rows, next, searchedTo } = await selectPage(
      this.#driver,
      selection,
    );
    return {
      views: rows.map(({ state, activity, context }) =>
        this.#viewOf(state, activity, context)
      ),
      next,
      searchedTo,
    };
  }

  /** Walks over all states of a query, page by page. */
  async *list(query: Query): AsyncGenerator<View> {
    for (let page = query;;) {
      const { views, next } = await this.page(page);
      yield* views;
      if (next === null) return;
      page = { ...query, after: next };
    }
  }

  #viewOf(
    state: string,
    activity: string,
    context: readonly SqlValue[],
  ): View {
    const view = this.#entity === "order"
      ? storedOrder(state, activity, context)
      : { ...JSON.parse(state), activity: readUserActivity(activity) };
    return view as View;
  }
}

/**
 * An order as readers see it.
 *
 * @param state Its state, as it is stored.
 * @param activity Its activity, as it is stored.
 * @param context What its row says beside these.
 */
export function storedOrder(
  state: string,
  activity: string,
  context: readonly SqlValue[],
): OrderState & {
  readonly activity: OrderActivity;
  readonly context: OrderContext;
} {
  return orderOf({
    ...readOrderState(state),
    activity: readOrderActivity(activity),
  }, context);
}
