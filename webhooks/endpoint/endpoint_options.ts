import type { Meter } from "../../core/telemetry/meter.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../../core/wire/delivery.ts";
import type { NoRoom } from "./body_room.ts";
import type { WebhookLog } from "./endpoint_log.ts";
import type { RefusalReason } from "./refusal.ts";

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

/** The value of an option that must be positive, or its default. */
export function positive<Name extends keyof WebhookEndpointOptions>(
  options: WebhookEndpointOptions,
  name: Name,
  preset: number,
): number {
  const value = options[name] ?? preset;
  if (typeof value === "number" && value > 0) return value;
  throw new RangeError(
    `Cannot mount endpoint: ${name} must be positive, current value is ${value}`,
  );
}
