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

/** Watches requests. What it throws is ignored. */
export type RequestHook = (info: RequestInfo) => void;

/** Watches how attempts end. What it throws is ignored. */
export type ResponseHook = (info: ResponseInfo) => void;
