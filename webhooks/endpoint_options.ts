import type { Meter } from "../core/telemetry/meter.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../core/wire/objects.ts";
import type { NoRoom } from "./body_room.ts";
import type { WebhookLog } from "./endpoint_log.ts";

/** The status that is answered for each reason to refuse a request. */
export const refusals = {
  /** The path holds no valid secret. */
  wrong_secret: 404,
  /** A valid secret stands elsewhere in the address. */
  misplaced_secret: 404,
  /** The address is not on the allowlist. */
  not_allowed: 404,
  /** It is not a POST. */
  method: 405,
  /** The body is over the limit. */
  too_large: 413,
  /** The body did not arrive in time. */
  late: 408,
  /** The body broke off. */
  broken: 400,
  /** Something read the body before the endpoint got it. */
  read_before: 503,
  /** Too many bytes of bodies are held in memory. */
  overload: 503,
  /** Large bodies have used up what they share. */
  large_share: 503,
  /** What is left of the spool is kept for small bodies. */
  nearly_full: 503,
} as const;

/** Why a request was refused. */
export type RefusalReason = keyof typeof refusals;

/** What a server knows of a connection; `Deno.ServeHandlerInfo` fits. */
export interface ConnectionInfo {
  /** Address of the other side, where the transport has one. */
  readonly remoteAddr?: { readonly hostname?: string } | object;
}

/** Options of {@linkcode webhookEndpoint}. */
export interface WebhookEndpointOptions {
  /**
   * Stores a delivery for good. `spool.put` does, where the ledger is a local
   * file; a mover takes it from there to the ledger. `ledger.appendDelivery`
   * does too, and resolves after the commit. Storing a delivery twice stores it
   * once.
   */
  readonly append: AppendDelivery;
  /**
   * Valid secrets; the last segment of the path must be one of them. Name the
   * new and the old one while the address is being changed at the service.
   */
  readonly secrets: readonly string[];
  /**
   * Beginning of the path, where no other is to be taken; the secret is all
   * that follows. It is compared with the path of the `Request`, from which
   * some frameworks have cut the prefix of a mount.
   *
   * @default Any: wherever it is mounted, the last segment is the secret.
   */
  readonly path?: string;
  /**
   * Addresses and networks (CIDR) that may deliver; others get 404.
   *
   * @default Everybody who knows a secret may.
   */
  readonly allowlist?: readonly string[];
  /**
   * Reads the address that a request came from, for the allowlist. Behind a
   * proxy it has to read the header that the proxy sets, and no other:
   * `proxiedAddress()` makes one that does.
   *
   * @default The address of the connection.
   */
  readonly clientAddress?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | null;
  /**
   * Most bytes of a body; a longer one gets 413.
   *
   * @default 1048576
   */
  readonly maxBodyBytes?: number;
  /**
   * Why a body of this many bytes is not taken now, while smaller ones are;
   * `spool.noRoomFor` says it. Such a body gets 503.
   *
   * @default Six bodies above 64 KiB a minute are taken, and any number of others.
   */
  readonly noRoomFor?: (bodyBytes: number) => NoRoom | null;
  /**
   * Most bytes of bodies held in memory at a time; beyond them requests get
   * 503. Bodies above 64 KiB hold an eighth of them at most.
   *
   * @default 67108864
   */
  readonly maxHeldBytes?: number;
  /**
   * Time from arrival to answer. The service waits 5 seconds.
   *
   * @default 4500
   */
  readonly deadlineMs?: number;
  /**
   * Time from arrival within which the body must be there; a slower one gets
   * 408.
   *
   * @default Half of `deadlineMs`.
   */
  readonly bodyDeadlineMs?: number;
  /**
   * Records that a delivery which may be stored was answered late or with 503;
   * `spool.note` and `ledger.recordUnanswered` do. It is called until it
   * succeeds.
   *
   * @default Nothing is recorded.
   */
  readonly unanswered?: (unanswered: UnansweredDelivery) => Promise<void>;
  /**
   * Wall clock in milliseconds since 1970, for times that are written down.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Steady clock in milliseconds, for deadlines.
   *
   * @default performance.now
   */
  readonly clock?: () => number;
  /**
   * Makes the id of a delivery from the time of its arrival.
   *
   * @default Monotonic ULIDs.
   */
  readonly newId?: (receivedAtMs: number) => string;
  /**
   * Where requests are counted and timed.
   *
   * @default {nowhere}
   */
  readonly meter?: Meter;
  /**
   * Called with every request when it is answered. It must return at once: it
   * runs on the thread that answers. Errors that it throws are ignored.
   *
   * @default {none}
   */
  readonly onAnswer?: (answered: AnsweredRequest) => void;
  /**
   * Takes log entries, which hold no secret, header or body.
   *
   * @default Nothing is logged.
   */
  readonly log?: WebhookLog;
}

/** A request that the endpoint answered, as `onAnswer` gets it. */
export interface AnsweredRequest {
  /** The delivery; null where no body was taken in. */
  readonly delivery: Delivery | null;
  /** Status of the answer. */
  readonly status: number;
  /** Why it was refused; null where it was not. */
  readonly refusal: RefusalReason | null;
  /** Time from arrival to answer, in ms. */
  readonly durationMs: number;
}

/** What an endpoint has done and is doing. */
export interface WebhookEndpointStats {
  /** Requests being answered. */
  readonly inFlight: number;
  /** Bytes of bodies held for them. */
  readonly heldBytes: number;
  /** How often each HTTP status was answered, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Requests that were refused, by reason; a reason without any is absent. */
  readonly refused: Readonly<Partial<Record<RefusalReason, number>>>;
  /**
   * Address of the latest request that knew the secret and is not on the
   * allowlist; null when there was none, or its address is unknown.
   */
  readonly lastNotAllowed: string | null;
  /** Since when bodies are refused for their size alone, while others get in. */
  readonly refusing: {
    /** Those above 64 KiB, UTC ISO 8601; null while none was for a minute. */
    readonly large: string | null;
    /** Those above 8 KiB, UTC ISO 8601; null while none was for a minute. */
    readonly allButSmall: string | null;
  };
  /** Whether the latest delivery was stored. */
  readonly appending: boolean;
  /** Notes of unanswered deliveries that could not be stored yet. */
  readonly unansweredNotes: number;
}
