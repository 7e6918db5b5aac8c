import { messageOf } from "../../core/guards.ts";
import { allowlist } from "../../webhooks/proxied_address.ts";
import {
  proxiedAddress,
  type WebhookEndpointOptions,
} from "../../webhooks/mod.ts";
import type { FlagsOf } from "../../core/settings/settings.ts";
import { UsageError } from "../../core/settings/errors.ts";

/** Flags of `serve` that say where webhooks are accepted from. */
export type AdmissionFlags = FlagsOf<
  "allow" | "clientAddressHeader" | "trustedProxies"
>;

/** What of the endpoint's options they decide. */
export type Admission = Pick<
  WebhookEndpointOptions,
  "allowlist" | "clientAddress"
>;

/**
 * Reads where webhooks are accepted from. A header is ignored unless the
 * proxies that write it are named, and only `--allow` uses it.
 *
 * @throws {UsageError} When a flag is missing that another needs, or one holds
 * what is not an address.
 */
export function admissionOf(flags: AdmissionFlags): Admission {
  const { allow, clientAddressHeader: header, trustedProxies } = flags;
  if (header !== undefined && trustedProxies === undefined) {
    throw new UsageError(
      "Missing --trusted-proxies: --client-address-header is trusted only from your own proxies, so name their addresses",
    );
  }
  if (trustedProxies !== undefined && header === undefined) {
    throw new UsageError(
      "Missing --client-address-header: --trusted-proxies does not say in " +
        "which header they state the address, for example X-Forwarded-For",
    );
  }
  if (header !== undefined && allow === undefined) {
    throw new UsageError(
      "Missing --allow: only --allow uses the addresses of clients",
    );
  }
  if (allow === undefined) return {};
  checkAllow(allow);
  if (header === undefined || trustedProxies === undefined) {
    return { allowlist: allow };
  }
  try {
    const clientAddress = proxiedAddress({ header, trustedProxies });
    return { allowlist: allow, clientAddress };
  } catch (error) {
    throw new UsageError(
      `Wrong --trusted-proxies or --client-address-header: ${messageOf(error)}`,
    );
  }
}

/** Names the flag before anything is opened. */
function checkAllow(allow: readonly string[]): void {
  try {
    allowlist(allow);
  } catch (error) {
    throw new UsageError(`Wrong --allow: ${messageOf(error)}`);
  }
}
