/** Parameters of a list, by name; sent as they are. */
export type ListParameters = Readonly<Record<string, string>>;

/** What the service answered, as it came. */
export interface ServiceAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Its `Content-Type`; null where it states none. */
  readonly contentType: string | null;
  /** Its `Date`, in milliseconds since 1970; null where it states none. */
  readonly dateMs: number | null;
  /** Our clock when it was sent, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** Our clock when the answer was whole, in milliseconds since 1970. */
  readonly answeredAtMs: number;
  /** The body as text; null where none could be read. */
  readonly text: string | null;
}

/** The service gave no answer at all, after every attempt. */
export class NoAnswerError extends Error {
  /** Name of the class. */
  override readonly name = "NoAnswerError";
}

/**
 * Asks the service, one request at a time and politely. There is nothing here
 * that creates a user, registers a card or pays.
 */
export interface AskService {
  /** Reads a page of orders. */
  readonly orders: (parameters: ListParameters) => Promise<ServiceAnswer>;
  /** Reads a page of users. */
  readonly users: (parameters: ListParameters) => Promise<ServiceAnswer>;
  /** Creates a session that nobody opens; null where that was not asked for. */
  readonly session:
    | ((body: Readonly<Record<string, unknown>>) => Promise<ServiceAnswer>)
    | null;
  /** Reads orders with a wrong key; null where that was not asked for. */
  readonly withWrongKey: (() => Promise<ServiceAnswer>) | null;
}

/** A request that the Test button sent. */
export interface TestRequest {
  /** Names of its headers, lower case. */
  readonly headers: readonly string[];
  /** Its `Content-Type`; null where it states none. */
  readonly contentType: string | null;
  /** Its body as text. */
  readonly text: string;
}
