import { allowlist } from "./allowlist.ts";
import { connectionAddress } from "./_connection_address.ts";
import { PathSecret } from "./path_secret.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import type { RefusalReason } from "./refusal.ts";

/** Decides from path, address and method whether a request may deliver. */
export class RequestGate {
  readonly secret: PathSecret;
  readonly #isAllowed: ((address: string | null) => boolean) | null;
  readonly #clientAddress: NonNullable<WebhookEndpointOptions["clientAddress"]>;
  #lastNotAllowed: string | null = null;

  constructor(options: WebhookEndpointOptions) {
    this.secret = new PathSecret(options.path ?? null, options.secrets);
    this.#isAllowed = options.allowlist === undefined
      ? null
      : allowlist(options.allowlist);
    this.#clientAddress = options.clientAddress ?? connectionAddress;
  }

  /** Address of the latest refused request that knew the secret. */
  get lastNotAllowed(): string | null {
    return this.#lastNotAllowed;
  }

  /** Why a request may not deliver; null when it may. */
  refusalOf(
    request: Request,
    info: ConnectionInfo | undefined,
  ): Extract<RefusalReason, "wrong_secret" | "not_allowed" | "method"> | null {
    const address = this.#isAllowed === null
      ? null
      : this.#clientAddress(request, info);
    const isAllowed = this.#isAllowed?.(address) ?? true;
    if (!this.secret.matches(request.url)) return "wrong_secret";
    if (!isAllowed) {
      this.#lastNotAllowed = address;
      return "not_allowed";
    }
    return request.method === "POST" ? null : "method";
  }
}
