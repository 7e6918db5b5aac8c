/** Options of every call. */
export interface CallOptions {
  /** Abandons the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of creating a session. */
export interface SessionOptions extends CallOptions {
  /**
   * The session is for a smart-contract purchase: `simple_full_restrict` then
   * needs neither wallet nor amount. Not sent.
   *
   * @default {false}
   */
  readonly smartContract?: boolean;
  /**
   * Accepts a pair that is not in the asset table.
   *
   * @default {as the client was made}
   */
  readonly allowUnlistedAssets?: boolean;
  /**
   * Fields, or values of fields, that the service has added since this version.
   * They are sent as they are, and no rule is applied to what they name.
   *
   * @default {{}}
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Options of creating a user. */
export interface UserOptions extends CallOptions {
  /**
   * Fields, or values of fields, that the service has added since this version.
   * They are sent as they are, and no rule is applied to what they name.
   *
   * @default {{}}
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Parameters of a query by their names. */
export type ExtraParameters = Readonly<
  Record<string, string | number | boolean>
>;

/** Options of reading a page. */
export interface PageOptions extends CallOptions {
  /**
   * Parameters, or values of parameters, that the service has added since this
   * version. They are sent as they are, and no rule is applied to what they
   * name. A walk refuses those that it sets itself, and proves nothing by what
   * it does not know.
   *
   * @default {{}}
   */
  readonly extra?: ExtraParameters;
}

/** Options of a walk over all pages. */
export interface ListOptions extends PageOptions {
  /**
   * Walks in both directions and compares, so that `completeness` can be a
   * proof.
   *
   * @default {false}
   */
  readonly prove?: boolean;
  /**
   * How long after its creation an item may still appear, in milliseconds. A
   * window that ends later than this long before the service's present time
   * proves nothing.
   *
   * @default {60000}
   */
  readonly settleMs?: number;
}

/** The calls a client makes. */
export type Operation =
  | "sessions.create"
  | "orders.page"
  | "users.page"
  | "users.create"
  | "cards.register";

/** A request that is about to be sent. */
export interface RequestInfo {
  /** Which call it belongs to. */
  readonly operation: Operation;
  /** HTTP method. */
  readonly method: "GET" | "POST";
  /** Full address; it holds neither key nor card. */
  readonly url: string;
  /** Attempt, from 1. */
  readonly attempt: number;
  /**
   * Body as sent; null without one, unless `hookBodies` is set, and always for
   * card registration.
   */
  readonly body: string | null;
}

/** How one attempt ended. */
export interface ResponseInfo extends Omit<RequestInfo, "body"> {
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Time from sending to the end of the body, in milliseconds. */
  readonly durationMs: number;
  /** Name of the error the attempt ended with; null when it succeeded. */
  readonly error: string | null;
  /**
   * Body as received; null without one, unless `hookBodies` is set, and always
   * for card registration.
   */
  readonly body: string | null;
}

/** Called before each request. Errors that it throws are ignored. */
export type RequestHook = (info: RequestInfo) => void;

/** Called when each attempt ends. Errors that it throws are ignored. */
export type ResponseHook = (info: ResponseInfo) => void;
